import { beforeEach, describe, expect, it } from "vitest";
import { PassingError } from "../../../src/sources/source-error.ts";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";

const MINUTE_MS = 60_000;

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
});
