import { beforeEach, describe, expect, it } from "vitest";
import { toListed } from "../../../src/coordinator/run.ts";
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
  it("waits once for as long as D1 refuses, survives a crash, and is then written", async () => {
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

  it("does not hold up the history of runs", async () => {
    world.before = failing("d1 audit");
    await world.coordinator.keepAuditEntry(anAuditEntry());
    const { run } = await world.enqueue();
    await world.drain(() => world.history.stateOf(run.id) === "succeeded");
    expect(world.audit.size).toBe(0);
  });

  it("is not held up by it", async () => {
    world.before = failing("d1 save");
    const { run } = await world.enqueue();
    await world.coordinator.keepAuditEntry(anAuditEntry());
    await world.drain(() => world.audit.size === 1);
    expect(world.history.stateOf(run.id)).toBeUndefined();
  });
});

describe("the runs that D1 may show otherwise", () => {
  it("are those that are open, and those that it has not been told of", async () => {
    const { run } = await world.enqueue();
    expect(world.coordinator.unsettledRuns()).toEqual([run]);
    world.before = failing("d1 save");
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(world.coordinator.unsettledRuns()).toEqual([toListed(world.run(run.id))]);
    world.before = () => {};
    await world.drain();
    expect(world.coordinator.unsettledRuns()).toEqual([]);
  });

  it("are as they are now, each once", async () => {
    const [first, second] = [await world.enqueue(), await world.enqueue({ mode: "full" })];
    await world.drain(() => world.run(first.run.id).stage === "build");
    const runs = world.coordinator.unsettledRuns();
    expect(runs.map(({ id }) => id).toSorted()).toEqual([first.run.id, second.run.id]);
    expect(runs).toContainEqual(toListed(world.run(first.run.id)));
  });
});

describe("the status", () => {
  it("says until when a step is claimed, while it is", async () => {
    await world.enqueue();
    const during: (string | null)[] = [];
    world.before = (call) => {
      if (call === "upstream fetch") during.push(world.coordinator.status().leaseUntil);
    };
    await world.drain();
    expect(during).toEqual([new Date(world.time + 120_000).toISOString()]);
    expect(world.coordinator.status().leaseUntil).toBeNull();
  });

  it("says when the newest tick of each trigger was due", async () => {
    await world.enqueue();
    const request = anEnqueueRequest({ trigger: "cron" });
    await world.coordinator.tick("17 4 * * *", world.time, request);
    await world.coordinator.tick("17 4 * * *", world.time - 86_400_000, request);
    expect(world.coordinator.status().lastTicks).toEqual({ "17 4 * * *": world.time });
  });

  it("says when the oldest version was published", async () => {
    expect(world.coordinator.status().oldestPublishedAt).toBeNull();
    await world.publishVersions(2);
    const [, oldest] = world.coordinator.versions();
    expect(world.coordinator.status().oldestPublishedAt).toBe(oldest?.published_at);
  });
});
