import { beforeEach, describe, expect, it } from "vitest";
import { CONTENTS_RETAINED } from "../../../src/coordinator/versions.ts";
import { neededBlobs } from "../../../src/parts/manifest.ts";
import { blobKey, generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { anUpstream, startEachFrom, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const generations = () => world.coordinator.versions().map(({ generation }) => generation);

describe("a rollback", () => {
  it("serves the earlier bodies under a new, higher generation, by writing manifests only", async () => {
    await world.publishVersions(3);
    const first = world.state.findRetained(1);
    const before = world.calls.length;
    world.time += 60_000;
    const result = await world.coordinator.rollback(1);
    expect(result).toMatchObject({ ok: true, version: { generation: 4, is_current: true } });
    await world.drain();
    expect(await world.served()).toEqual({
      ...first,
      generation: 4,
      previous: 3,
      published_at: new Date(world.time).toISOString(),
    });
    const writes = world.calls.slice(before).filter((call) => / (put|delete) /.test(call));
    expect(writes).toEqual([
      `r2 put ${generationKey(3)}`,
      `r2 put ${MANIFEST_KEY}`,
      `r2 put ${generationKey(4)}`,
      `kv put ${MANIFEST_KEY}`,
    ]);
    expect(world.coordinator.status()).toMatchObject({ replicated: true });
  });

  it("refuses a version that is not retained, and changes nothing", async () => {
    const refused = { ok: false, reason: "not_retained" };
    expect(await world.coordinator.rollback(1)).toEqual(refused);
    await world.publishVersions(CONTENTS_RETAINED + 1);
    const served = await world.served();
    for (const generation of [1, 0, 99])
      expect(await world.coordinator.rollback(generation)).toEqual(refused);
    await world.drain();
    expect(await world.served()).toEqual(served);
  });

  it("refuses a version of which both stores have lost a blob, and takes one that a store has", async () => {
    await world.publishVersions(2);
    const [first = [], second = []] = [1, 2].map((generation) => {
      const version = world.state.findRetained(generation);
      const needed = version === undefined ? [] : neededBlobs(version);
      return needed.flatMap(({ sha256, isOfBody }) => (isOfBody ? sha256 : []));
    });
    const [blob = ""] = first.filter((name) => !second.includes(name));
    const served = await world.served();
    const copy = world.store.kv.get(blobKey(blob));
    world.store.kv.delete(blobKey(blob));
    world.store.r2.delete(blobKey(blob));
    expect(await world.coordinator.rollback(1)).toEqual({ ok: false, reason: "blobs_lost" });
    await world.drain();
    expect(await world.served()).toEqual(served);
    if (copy !== undefined) world.store.kv.set(blobKey(blob), copy);
    expect(await world.coordinator.rollback(1)).toMatchObject({ version: { generation: 3 } });
  });

  it("publishes while R2 cannot say which blobs it has", async () => {
    await world.publishVersions(2);
    world.before = (call) => {
      if (call.startsWith("r2 list")) throw new Error("R2 is away");
    };
    expect(await world.coordinator.rollback(1)).toMatchObject({ version: { generation: 3 } });
  });

  it("reaches stores that refused it at first, after a wait between the attempts", async () => {
    await world.publishVersions(2);
    const attemptsAt: number[] = [];
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && attemptsAt.push(world.time) <= 3)
        throw new Error("429");
    };
    await world.coordinator.rollback(1);
    await world.alarm();
    expect(world.coordinator.status().replicated).toBe(false);
    await world.alarm();
    expect(attemptsAt).toHaveLength(1);
    await world.drain();
    const [first = 0, second = 0] = attemptsAt;
    expect(second - first).toBeGreaterThanOrEqual(30_000);
    expect(world.coordinator.status().replicated).toBe(true);
  });

  it("awaits replication although an earlier version has arrived meanwhile", async () => {
    await world.publishVersions(2);
    world.before = (call) => {
      if (call.startsWith("kv put")) throw new Error("429");
    };
    await world.coordinator.rollback(1);
    world.state.setReplicated(2);
    expect(world.coordinator.status().replicated).toBe(false);
  });
});

describe("a rollback while a run is about to publish", () => {
  /** The next version changes one airport of the second, which had half as many again as the first. */
  beforeEach(async () => {
    await world.runToEnd();
    world.setAirports(30);
    await world.runToEnd({ forced: true });
    const [first = {}, ...others] = moreAirports(30);
    world.upstream = anUpstream([{ ...first, name: "Kloten" }, ...others]);
  });

  const rollBackBeforePublication = async (forced: boolean) => {
    const { run } = await world.enqueue({ forced });
    await world.drain(() => {
      const { done, total } = world.run(run.id).progress;
      return total > 0 && done === total;
    });
    expect(await world.coordinator.rollback(1)).toMatchObject({ ok: true });
    await world.drain();
    return world.run(run.id);
  };

  it("makes the guards compare the run with the restored version, and refuse it", async () => {
    const run = await rollBackBeforePublication(false);
    expect(run).toMatchObject({
      state: "failed",
      error: { code: "guard_change", stage: "guard" },
      generation_before: 3,
      generation_after: null,
    });
    expect(await world.served()).toMatchObject({ generation: 3, counts: { airports: 20 } });
  });

  it("lets a forced run publish, with the evidence of the new comparison", async () => {
    const run = await rollBackBeforePublication(true);
    expect(run).toMatchObject({
      outcome: "published",
      generation_before: 3,
      generation_after: 4,
      counts: { airports: { added: 10, changed: 1 } },
    });
    expect(run.guards.map(({ guard }) => guard)).toContain("guard_change");
  });
});

describe("the retained versions", () => {
  const full = new CoordinatorWorld();
  startEachFrom(full, () => full.publishVersions(CONTENTS_RETAINED));

  beforeEach(() => {
    world = full;
  });

  it(`include the last ${CONTENTS_RETAINED}, the newest first and current`, async () => {
    await world.publishVersions(2);
    expect(generations()).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    const current = world.coordinator.versions().filter(({ is_current }) => is_current);
    expect(current.map(({ generation }) => generation)).toEqual([12]);
    expect(world.state.findRetained(2)).toBeUndefined();
  });

  it("lose no content when an operator rolls back and forth", async () => {
    for (let times = 0; times < 30; times++) {
      const [, other] = generations();
      expect(await world.coordinator.rollback(other ?? 0)).toMatchObject({ changed: true });
    }
    const contents = world.coordinator.versions().map(({ catalog_sha256 }) => catalog_sha256);
    expect(new Set(contents).size).toBe(CONTENTS_RETAINED);
    expect(contents).toHaveLength(2 * CONTENTS_RETAINED);
  });
});
