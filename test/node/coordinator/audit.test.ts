import { beforeEach, describe, expect, it } from "vitest";
import { toListed } from "../../../src/schemas/run.ts";
import { anAuditEntry } from "../../builders/audit.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const failing = (call: string) => (made: string) => {
  if (made === call) throw new Error("D1_ERROR");
};

describe("an audit entry that D1 did not take", () => {
  it("waits while D1 refuses it, survives a crash, and is then written once", async () => {
    world.before = failing("d1 audit");
    for (let calls = 0; calls < 2; calls++) await world.coordinator.keepAuditEntry(anAuditEntry());
    await world.alarm();
    world.crash();
    await world.alarm();
    expect(world.audit.size).toBe(0);
    expect(world.coordinator.status().outboxLength).toBe(1);
    world.before = () => {};
    await world.drain();
    expect([...world.audit.values()]).toEqual([anAuditEntry()]);
    expect(world.coordinator.status().outboxLength).toBe(0);
  });

  it("does not delay the history of runs", async () => {
    world.before = failing("d1 audit");
    await world.coordinator.keepAuditEntry(anAuditEntry());
    const { run } = await world.enqueue();
    await world.drain(() => world.history.stateOf(run.id) === "succeeded");
    expect(world.audit.size).toBe(0);
  });

  it("arrives although D1 refuses rows of runs", async () => {
    world.before = failing("d1 save");
    const { run } = await world.enqueue();
    await world.coordinator.keepAuditEntry(anAuditEntry());
    await world.drain(() => world.audit.size === 1);
    expect(world.history.stateOf(run.id)).toBeUndefined();
  });
});

describe("unwrittenRuns", () => {
  it("lists the open runs and those whose end D1 has not received", async () => {
    const { run } = await world.enqueue();
    expect(world.coordinator.unwrittenRuns()).toEqual([run]);
    world.before = failing("d1 save");
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(world.coordinator.unwrittenRuns()).toEqual([toListed(world.run(run.id))]);
    world.before = () => {};
    await world.drain();
    expect(world.coordinator.unwrittenRuns()).toEqual([]);
  });

  it("lists each run once, in its present state", async () => {
    const [first, second] = [await world.enqueue(), await world.enqueue({ mode: "full" })];
    await world.drain(() => world.run(first.run.id).stage === "build");
    const runs = world.coordinator.unwrittenRuns();
    expect(runs.map(({ id }) => id).toSorted()).toEqual([first.run.id, second.run.id]);
    expect(runs).toContainEqual(toListed(world.run(first.run.id)));
  });
});

describe("the status", () => {
  it("shows the scheduled time of the newest tick of each cron trigger", async () => {
    await world.enqueue();
    const request = anEnqueueRequest({ trigger: "cron" });
    await world.coordinator.tick("17 4 * * *", world.time, request);
    await world.coordinator.tick("17 4 * * *", world.time - 86_400_000, request);
    expect(world.coordinator.status().lastTicks).toEqual({ "17 4 * * *": world.time });
  });

  it("shows when the oldest retained version was published", async () => {
    expect(world.coordinator.status().oldestPublishedAt).toBeNull();
    await world.publishVersions(1);
    world.time += 3_600_000;
    await world.publishVersions(1);
    const [newest, oldest] = world.coordinator.versions();
    expect(newest?.published_at).not.toBe(oldest?.published_at);
    expect(world.coordinator.status().oldestPublishedAt).toBe(oldest?.published_at);
  });
});
