import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { blobsOf } from "../../../src/parts/manifest.ts";
import { CONTENTS_RETAINED } from "../../../src/coordinator/versions.ts";
import type { Run } from "../../../src/schemas/run.ts";
import {
  blobKey,
  BLOBS_PREFIX,
  GENERATIONS_PREFIX,
  MANIFEST_KEY,
  sourceKey,
} from "../../../src/storage/keys.ts";
import {
  AIRPORTS_AT_FIRST,
  anUpstream,
  startEachFrom,
  CoordinatorWorld,
} from "../../builders/coordinator-world.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";
import { anAirportRow } from "../../builders/source.ts";

const HOUR_MS = 3_600_000;
const PAUSE = { by: "ops", note: null, until: null };

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld();
});

const collect = () => world.collect();

/** Has the cron look for garbage so much later. */
async function reconcile(laterMs: number): Promise<void> {
  world.time += laterMs;
  await world.coordinator.reconcile();
  await world.drain();
}

const isArchived = ({ upstream }: Run) =>
  world.archive.bucket.files.has(sourceKey(upstream["airports.csv.gz"]?.sha256 ?? ""));

/** What the run of a generation had archived. */
const isArchivedOf = (generation: number) =>
  isArchived(world.run(runOf(generation)?.id ?? "no such run"));
const runOf = (generation: number) =>
  [...world.history.rows.values()].find(({ run }) => run.generation_after === generation)?.run;

/** Keys in a store with a prefix, in order. */
const keys = (replica: "kv" | "r2", prefix: string) =>
  [...world.store[replica].keys()].filter((key) => key.startsWith(prefix)).toSorted();

const retained = () => world.coordinator.versions().map(({ generation }) => generation);

/** Keys of every blob that one of these versions names. */
function namedBlobs(generations = retained()): string[] {
  const manifests = generations.flatMap((generation) => world.state.findRetained(generation) ?? []);
  return [...blobsOf(...manifests)].map(blobKey).toSorted();
}

/** Stores a blob that no version names. */
async function storeStray(): Promise<void> {
  const stray = new TextEncoder().encode("stray");
  await world.store.writeBlob(sha256Hex(stray), stray);
}

/** What is stored is what the retained versions name, and nothing else. */
function expectNoGarbage(): void {
  const versions = world.coordinator.versions();
  for (const replica of ["kv", "r2"] as const)
    expect(keys(replica, BLOBS_PREFIX)).toEqual(namedBlobs());
  expect(keys("r2", GENERATIONS_PREFIX)).toHaveLength(versions.length);
}

describe("an object that a version names", () => {
  const full = new CoordinatorWorld();
  startEachFrom(full, () => full.publishVersions(CONTENTS_RETAINED));

  beforeEach(() => {
    world = full;
  });

  it("stays while a retained version names it, and is deleted afterwards", async () => {
    await collect();
    expect(world.calls.filter((call) => call.includes(" delete "))).toEqual([]);
    await world.publishVersions(2);
    await collect();
    expectNoGarbage();
    expect([1, 2, 3, CONTENTS_RETAINED + 2].map(isArchivedOf)).toEqual([false, false, true, true]);
  });

  it("loses its manifest before its blobs, whose absence under a listed version is a loss of data", async () => {
    await world.publishVersions(1);
    const blobs = () => keys("r2", BLOBS_PREFIX).length;
    const before = blobs();
    let atDeletion = 0;
    world.before = (call) => {
      if (call.startsWith("r2 delete catalog/manifests/")) atDeletion = blobs();
    };
    await collect();
    expect(atDeletion).toBe(before);
    expect(blobs()).toBeLessThan(before);
  });

  it("disappears a day after the last version that named it", async () => {
    const old = namedBlobs([1]);
    await world.publishVersions(1);
    const named = namedBlobs();
    const unnamed = old.filter((key) => !named.includes(key));
    expect(unnamed).not.toEqual([]);
    for (const hours of [1, 12, 11]) {
      await reconcile(hours * HOUR_MS);
      expect(keys("kv", BLOBS_PREFIX)).toEqual(expect.arrayContaining(unnamed));
    }
    await reconcile(HOUR_MS);
    expectNoGarbage();
  });

  it("stays if a new version names it within the day", async () => {
    await world.publishVersions(1);
    await reconcile(HOUR_MS);
    world.renameAirport("Airport 1");
    await world.runToEnd();
    await collect();
    expectNoGarbage();
  });

  it.each(["archive list", "r2 list", "archive delete", "r2 delete", "kv delete"])(
    "disappears later if a store fails at “%s” or the coordinator crashes",
    async (refused) => {
      await world.publishVersions(1);
      let refusals = 2;
      world.before = (call) => {
        if (!call.startsWith(refused) || refusals-- <= 0) return;
        if (refusals === 0) world.crash();
        throw new Error("503");
      };
      for (let days = 0; days < 4; days++) await collect();
      expect(refusals).toBeLessThan(0);
      expectNoGarbage();
      expect([1, 2].map(isArchivedOf)).toEqual([false, true]);
    },
  );
});

describe("an object that no version names", () => {
  it("stays if the next run compares upstream with it", async () => {
    await world.runToEnd();
    const unchanged = async (name: string) => {
      const unused = anAirportRow({ id: "1", iata_code: "", name });
      world.upstream = anUpstream([...moreAirports(AIRPORTS_AT_FIRST), unused]);
      const run = await world.runToEnd();
      expect(run.outcome).toBe("unchanged");
      return run;
    };
    const [first, second] = [await unchanged("one"), await unchanged("two")];
    await collect();
    expect([first, second].map(isArchived)).toEqual([false, true]);
  });

  it("stays if it is of the ledger of the last run, which has published nothing", async () => {
    await world.publishVersions(1);
    world.source = "other";
    world.crash();
    world.renameAirport("Waits");
    expect(await world.runToEnd()).toMatchObject({ outcome: "unchanged" });
    const ledger = world.state.savedLedger();
    const files = [ledger?.accepted, ledger?.held].map((sha256) => sourceKey(sha256 ?? ""));
    const published = Object.values(world.current()?.sources ?? {}).map(sourceKey);
    for (const file of files) expect(published).not.toContain(file);
    await collect();
    for (const file of files) expect(world.archive.bucket.files.has(file)).toBe(true);
    expect(world.coordinator.status().held).toMatchObject({ waiting: 1 });
  });

  it("stays for a run that guards refused, and disappears after a dry run", async () => {
    await world.publishVersions(1);
    world.setAirports(2 * AIRPORTS_AT_FIRST);
    const dry = await world.runToEnd({ mode: "dry_run" });
    expect(isArchived(dry)).toBe(true);
    await collect();
    expect(isArchived(dry)).toBe(false);
    const refused = await world.runToEnd();
    expect(refused.error?.code).toBe("guard_change");
    await collect();
    expect(isArchived(refused)).toBe(true);
  });

  it("stays while a run is in progress, however long a pause holds that run", async () => {
    await world.publishVersions(1);
    world.renameAirport("Kloten");
    const run = await world.runUpTo("publish");
    await world.coordinator.pause(PAUSE, false);
    world.crash();
    await collect();
    expect(isArchived(run)).toBe(true);
    expect(world.callsOf("kv delete")).toEqual([]);
    expect(keys("kv", BLOBS_PREFIX).length).toBeGreaterThan(namedBlobs().length);
  });

  it.each([
    ["by itself", (id: string) => world.coordinator.cancel(id, { by: "ops", note: null })],
    ["by a pause", () => world.coordinator.pause(PAUSE, true)],
  ])("disappears after a run that is cancelled between two steps %s", async (_, cancel) => {
    await world.publishVersions(1);
    world.renameAirport("Kloten");
    const run = await world.runUpTo("publish");
    await cancel(run.id);
    await world.drain();
    expect(world.run(run.id).state).toBe("cancelled");
    await collect();
    expect(isArchived(run)).toBe(false);
    expectNoGarbage();
  });

  it("stays while a version waits to reach the stores", async () => {
    await world.publishVersions(2);
    await storeStray();
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}`) throw new Error("KV is away");
    };
    await world.coordinator.rollback(1);
    for (const hours of [1, 25]) {
      world.time += hours * HOUR_MS;
      await world.coordinator.reconcile();
      await world.alarm();
      await world.alarm();
    }
    expect(world.callsOf("kv delete")).toEqual([]);
    world.before = () => {};
    await world.drain();
    await collect();
    expectNoGarbage();
  });

  it("causes one listing of R2 an hour, however often the cron fires", async () => {
    await world.publishVersions(1);
    world.time += HOUR_MS;
    const before = world.callsOf("archive list").length;
    for (let ticks = 0; ticks < 5; ticks++) await reconcile(60_000);
    expect(world.callsOf("archive list")).toHaveLength(before + 1);
  });
});
