import { beforeEach, describe, expect, it } from "vitest";
import type { HoldKind } from "../../../src/ingest/hold.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
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

  it("is over when the hold has ended", async () => {
    await world.publishVersions(2);
    await hold("restore");
    world.time += HOLD_MS;
    expect(await world.coordinator.rollback(1)).toMatchObject({ ok: true });
  });
});
