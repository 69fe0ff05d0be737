import { beforeEach, describe, expect, it } from "vitest";
import { QUEUE_MAX_DEPTH } from "../../../src/ingest/queue.ts";
import { RUN_MODES } from "../../../src/ingest/run.ts";
import { PassingError } from "../../../src/sources/source-error.ts";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const MINUTE_MS = 60_000;
const AT = `at:${new Date(START + MINUTE_MS).toISOString()}` as const;

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

/** Fails a run by upstream, which is back afterwards, and gives its second try. */
async function failOne() {
  const { upstream } = world;
  const fetch = () => Promise.reject(new PassingError("unreachable", "no answer"));
  world.upstream = { name: "embedded", fetch };
  const { run } = await world.enqueue();
  await world.drain(() => world.run(run.id).state === "failed");
  world.upstream = upstream;
  const [second] = world.coordinator.status().queued;
  if (second === undefined) throw new Error("no second try waits");
  expect(second).toMatchObject({ parent_run_id: run.id, attempt: 2 });
  return second;
}

const startOf = (id: string) => Date.parse(world.run(id).started_at ?? "") - START;

describe("a second try", () => {
  it("waits for a minute, also over a crash, with the alarm set for its end", async () => {
    const second = await failOne();
    await world.drain(() => world.alarmAt !== START);
    expect(world.alarmAt).toBe(START + MINUTE_MS);
    expect(world.coordinator.status().nextDueAt).toBe("2026-11-01T04:18:00.000Z");
    world.crash();
    await world.alarm();
    expect(world.run(second.id).state).toBe("queued");
    expect(world.alarmAt).toBe(START + MINUTE_MS);
    await world.drain();
    expect(startOf(second.id)).toBe(MINUTE_MS);
    expect(world.run(second.id).outcome).toBe("published");
  });

  it("does not hold up a run that would do something else, which starts now as it is told", async () => {
    const second = await failOne();
    const { run, ...answer } = await world.enqueue({ mode: "full" });
    expect(answer).toMatchObject({
      disposition: "queued",
      willStart: "now",
      queuePosition: 1,
      queueDepth: 2,
    });
    expect(world.coordinator.status().queued.map(({ id }) => id)).toEqual([run.id, second.id]);
    await world.drain();
    expect([startOf(run.id), startOf(second.id)]).toEqual([0, MINUTE_MS]);
  });

  it("is what a request for the same gets, with when it starts", async () => {
    const second = await failOne();
    const asked = await world.enqueue();
    expect(asked).toMatchObject({ disposition: "coalesced", willStart: AT, queuePosition: 1 });
    expect(asked.run.id).toBe(second.id);
    const other = await world.enqueue({ mode: "full" });
    expect(await world.enqueue()).toMatchObject({
      willStart: `after_run:${other.run.id}`,
      queuePosition: 2,
      message: expect.stringContaining("but not before 2026-11-01T04:18:00.000Z"),
    });
  });

  it("takes its turn before a run that was queued when its time had come, and not before others", async () => {
    const second = await failOne();
    const early = await world.enqueue({ mode: "full" });
    await world.alarm();
    const waiting = await world.enqueue({ mode: "dry_run" });
    expect(waiting).toMatchObject({ willStart: `after_run:${early.run.id}`, queuePosition: 1 });
    world.time = START + MINUTE_MS;
    const late = await world.enqueue({ mode: "full", source: "other" });
    expect(late).toMatchObject({ willStart: `after_run:${second.id}`, queuePosition: 3 });
    const begun: string[] = [];
    await world.drain(() => {
      const id = world.coordinator.status().running?.id;
      if (id !== undefined && id !== begun.at(-1)) begun.push(id);
      return false;
    });
    expect(begun).toEqual([early.run.id, waiting.run.id, second.id, late.run.id]);
  });

  it("is not made where the same run waits already, which is it then", async () => {
    world.upstream = {
      name: "embedded",
      fetch: () => Promise.reject(new PassingError("unreachable", "no answer")),
    };
    const { run } = await world.enqueue();
    let same: string | undefined;
    world.before = async (call) => {
      if (call === "upstream fetch") same ??= (await world.enqueue()).run.id;
    };
    await world.drain(() => world.run(run.id).state === "failed");
    expect(world.coordinator.status().queued.map(({ id }) => id)).toEqual([same]);
    await world.drain();
    expect([...world.history.rows.values()].map(({ run: { attempt } }) => attempt)).toEqual([
      1, 1, 2,
    ]);
  });

  it("is made also where the queue is full, and then nobody else gets in", async () => {
    world.upstream = {
      name: "embedded",
      fetch: () => Promise.reject(new PassingError("unreachable", "no answer")),
    };
    const kinds = RUN_MODES.flatMap((mode) =>
      [false, true].flatMap((forced) =>
        ["embedded", "other"].map((source) => ({ mode, forced, source })),
      ),
    );
    await world.enqueue(kinds[0]);
    let isFilled = false;
    world.before = async (call) => {
      if (call !== "upstream fetch" || isFilled) return;
      isFilled = true;
      for (const kind of kinds.slice(1, QUEUE_MAX_DEPTH + 1)) await world.enqueue(kind);
    };
    await world.drain(() => isFilled);
    const { queued } = world.coordinator.status();
    expect(queued).toHaveLength(QUEUE_MAX_DEPTH + 1);
    expect(queued.at(-1)).toMatchObject({ trigger: "retry" });
    const asked = await world.coordinator.enqueue(anEnqueueRequest(kinds.at(-1)));
    expect(asked).toEqual({ ok: false, reason: "queue_full", queueDepth: QUEUE_MAX_DEPTH + 1 });
    expect(await world.enqueue(kinds[0])).toMatchObject({ disposition: "coalesced" });
  });
});
