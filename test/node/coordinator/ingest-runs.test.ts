import { beforeEach, describe, expect, it } from "vitest";
import { TransientSourceError, SourceError } from "../../../src/sources/source-error.ts";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const CRON = "17 4 * * *";
const PAUSE = { by: "ops", note: "maintenance", until: null };

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const tick = (scheduledAt: number) =>
  world.coordinator.tick(CRON, scheduledAt, anEnqueueRequest({ trigger: "cron" }));

const rows = () => [...world.history.rows.values()].map(({ run }) => run);

/** Makes a stage's calls fail so long as it is asked to. */
const breakUpstream = (fault: Error) => {
  world.upstream = { ...world.upstream, fetch: () => Promise.reject(fault) };
};

describe("a pause", () => {
  it("lifts itself at its end, and the runs that waited start", async () => {
    const until = new Date(START + 3_600_000).toISOString();
    await world.coordinator.pause({ ...PAUSE, until }, false);
    const { run, ...answer } = await world.enqueue();
    expect(answer).toMatchObject({ changed: true, will_start: "on_resume" });
    await world.drain(() => world.run(run.id).state !== "queued");
    expect(world.time).toBe(START + 3_600_000);
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "succeeded" });
    expect(world.coordinator.status().pause).toBeNull();
  });
});

describe("a pause past its end that no alarm has lifted yet", () => {
  it("counts for neither the status, the queue, a request nor a rollback", async () => {
    await world.runToEnd();
    await world.coordinator.pause({ ...PAUSE, until: new Date(START + 10).toISOString() }, false);
    await world.enqueue();
    world.time = START + 10;
    expect(world.coordinator.queue()).toMatchObject([{ will_start: "now" }]);
    expect(world.coordinator.status().pause).toBeNull();
    const request = anEnqueueRequest({ mode: "full", ifPaused: "reject" });
    expect(await world.coordinator.enqueue(request)).toMatchObject({ ok: true });
    expect(await world.coordinator.rollback(1)).toMatchObject({ ok: true, paused: false });
  });
});

describe("a cron tick", () => {
  it("leads to one run, however often it fires", async () => {
    await tick(START);
    await tick(START);
    await world.drain();
    await tick(START);
    await world.drain();
    expect(rows()).toMatchObject([{ trigger: "cron", state: "succeeded" }]);
    await tick(START + 86_400_000);
    await world.drain();
    expect(rows()).toHaveLength(2);
  });

  it("leads to no run during a pause, and one row counts the skipped ticks", async () => {
    await world.coordinator.pause(PAUSE, false);
    for (let day = 0; day < 5; day++) await tick(START + day);
    await tick(START);
    await world.drain();
    expect(rows()).toMatchObject([
      { state: "skipped", skipped_reason: "paused", skip_count: 5, outcome: null },
    ]);
  });

  it("gets a new row if it is skipped in a later pause", async () => {
    await world.coordinator.pause({ ...PAUSE, until: new Date(START + 10).toISOString() }, false);
    await tick(START);
    world.time = START + 10;
    await world.coordinator.pause(PAUSE, false);
    await tick(START + 10);
    await world.drain();
    expect(rows()).toMatchObject([{ skip_count: 1 }, { skip_count: 1 }]);
  });

  it("leads to a run after the end of a pause, even before the alarm that lifts it", async () => {
    await world.coordinator.pause({ ...PAUSE, until: new Date(START + 10).toISOString() }, false);
    world.time = START + 10;
    expect(world.coordinator.status().pause).toBeNull();
    await tick(START + 10);
    expect(world.coordinator.status().queued).toHaveLength(1);
  });

  it("leads to no run while the same run waits, and one row counts the skipped ticks", async () => {
    await world.enqueue({ mode: "full" });
    await world.alarm();
    await tick(START);
    await tick(START + 1);
    await tick(START + 2);
    await world.drain();
    expect(rows().map(({ trigger, state, skip_count }) => [trigger, state, skip_count])).toEqual([
      ["manual", "succeeded", 0],
      ["cron", "succeeded", 0],
      ["cron", "skipped", 2],
    ]);
  });
});

describe("a run that fails", () => {
  it("lets the next run proceed, even if each of its steps crashes the coordinator", async () => {
    const poison = await world.enqueue({ source: "other" });
    const next = await world.enqueue();
    world.before = (call) => {
      if (call === "upstream fetch" && world.coordinator.status().running?.source === "other")
        world.crash();
    };
    await world.drain();
    expect(world.run(poison.run.id)).toMatchObject({
      state: "failed",
      error: { code: "lease_expired", stage: "fetch" },
    });
    expect(world.run(next.run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
    expect(rows().map(({ state, trigger }) => [state, trigger])).toEqual([
      ["failed", "manual"],
      ["succeeded", "manual"],
      ["failed", "retry"],
    ]);
    // Five times each: the sixth claim ends the run.
    expect(world.callsOf("upstream fetch")).toHaveLength(5 + 1 + 5);
  });
});

describe("a retry", () => {
  it("waits for a minute, also across a crash, with the alarm set for its start", async () => {
    const { upstream } = world;
    breakUpstream(new TransientSourceError("http_status", "busy", 60_000));
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "failed");
    world.upstream = upstream;
    const [second] = world.coordinator.status().queued;
    expect(second).toMatchObject({ parent_run_id: run.id, attempt: 2 });
    const dueAt = Date.parse(world.run(run.id).finished_at ?? "") + 60_000;
    await world.drain(() => world.alarmAt === dueAt);
    expect(world.alarmAt).toBe(dueAt);
    expect(world.coordinator.status().nextDueAt).toBe(new Date(dueAt).toISOString());
    world.crash();
    await world.alarm();
    expect(world.run(second?.id ?? "").state).toBe("queued");
    expect(world.alarmAt).toBe(dueAt);
    await world.drain();
    expect(world.run(second?.id ?? "")).toMatchObject({
      outcome: "published",
      started_at: new Date(dueAt).toISOString(),
    });
  });
});

describe("the end of a run", () => {
  it("lists the run first among the ended ones, with the reason of its failure", async () => {
    const first = await world.runToEnd();
    breakUpstream(new SourceError("http_refused", "example.org answers 404; check the URL"));
    const second = await world.runToEnd({ mode: "dry_run" });
    const { ended } = world.coordinator.status();
    const error = { code: "source_http_refused" };
    expect(ended).toMatchObject([
      { id: second.id, state: "failed", outcome: null, mode: "dry_run", error },
      { id: first.id, state: "succeeded", outcome: "published", finished_at: first.finished_at },
    ]);
  });
});

describe("the runs of the status", () => {
  it("start with the one that ended last, even after a clock was fast", async () => {
    world.time += 365 * 24 * 3_600_000;
    const fromFastClock = await world.runToEnd();
    world.time = START;
    const newest = await world.runToEnd();
    expect(newest.id < fromFastClock.id).toBe(true);
    expect(world.coordinator.status().ended.map(({ id }) => id)).toEqual([
      newest.id,
      fromFastClock.id,
    ]);
  });
});
