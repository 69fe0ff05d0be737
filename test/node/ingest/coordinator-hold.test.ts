import { beforeEach, describe, expect, it } from "vitest";
import type { HoldKind } from "../../../src/ingest/hold.ts";
import { LEASE_MS } from "../../../src/ingest/step-runner.ts";
import { CoordinatorWorld, START } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

const HOLD_MS = 60_000;

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const hold = (kind: HoldKind) => world.coordinator.hold({ by: "job", kind, forMs: HOLD_MS });

describe("while a backup is made", () => {
  it("a queued run is told to start after it, and does", async () => {
    await hold("backup");
    const answer = await world.enqueue();
    expect(answer).toMatchObject({
      disposition: "queued",
      willStart: "after_backup",
      message: expect.stringContaining("A backup is being made"),
    });
    await world.alarm();
    expect(world.run(answer.run.id).state).toBe("queued");
    await world.coordinator.release("job");
    await world.drain();
    expect(world.run(answer.run.id).outcome).toBe("published");
  });

  it("a step commits nothing any more once its lease has run out, and is done again", async () => {
    const { run } = await world.enqueue();
    await world.drain(() => world.current() !== null);
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let writes = 0;
    world.before = async (call) => {
      if (call !== "kv put catalog/manifest" || writes++ > 0) return;
      asked.resolve();
      await answered.promise;
    };
    const step = world.alarm();
    await asked.promise;
    expect(await hold("backup")).toMatchObject({ ok: true, ready: false });
    world.time += LEASE_MS;
    expect(await hold("backup")).toMatchObject({ ok: true, ready: true });
    answered.resolve();
    await step;
    expect(world.run(run.id)).toMatchObject({ state: "running", stage: "verify" });
    await world.coordinator.release("job");
    await world.drain();
    expect(world.run(run.id).outcome).toBe("published");
    expect(writes).toBe(2);
  });

  it("a version can be rolled back to, and a run cancelled", async () => {
    await world.publishVersions(2);
    const { run } = await world.enqueue();
    await hold("backup");
    expect(await world.coordinator.rollback(1)).toMatchObject({ ok: true });
    expect(await world.coordinator.cancel(run.id, "ops")).toMatchObject({ ok: true });
  });
});

describe("while a backup is restored", () => {
  const RESTORING = { ok: false, reason: "restoring" };

  it("what would be lost is refused: a queued run, a rollback, a cancellation", async () => {
    await world.publishVersions(2);
    const { run } = await world.enqueue();
    await hold("restore");
    expect(await world.coordinator.enqueue(anEnqueueRequest({ mode: "full" }))).toEqual(RESTORING);
    expect(await world.coordinator.rollback(1)).toEqual(RESTORING);
    expect(await world.coordinator.cancel(run.id, "ops")).toEqual(RESTORING);
    expect(world.run(run.id).state).toBe("queued");
    expect(world.current()?.generation).toBe(2);
  });

  it("a cron tick makes no run, and is not held to have been taken", async () => {
    const tick = () =>
      world.coordinator.tick("17 4 * * *", START, anEnqueueRequest({ trigger: "cron" }));
    await hold("restore");
    await tick();
    expect(world.coordinator.unsettledRuns()).toEqual([]);
    await world.coordinator.release("job");
    await tick();
    expect(world.coordinator.unsettledRuns()).toMatchObject([{ trigger: "cron" }]);
  });

  it("is over when the hold has ended", async () => {
    await world.publishVersions(2);
    await hold("restore");
    world.time += HOLD_MS;
    expect(await world.coordinator.rollback(1)).toMatchObject({ ok: true });
  });
});
