import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { CONTENTS_RETAINED } from "../../../src/ingest/versions.ts";
import { GENERATIONS_PREFIX, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import {
  AIRPORTS_AT_FIRST,
  anUpstream,
  CoordinatorWorld,
} from "../../builders/coordinator-world.ts";
import { QuickPipeline } from "../../builders/quick-pipeline.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";
import { anAirportRow } from "../../builders/source.ts";

const HOUR_MS = 3_600_000;
const PAUSE = { by: "ops", reason: null, until: null };

let world: CoordinatorWorld;

beforeEach(() => {
  world = new CoordinatorWorld({ makePipeline: (deps) => new QuickPipeline(deps) });
});

/** Lets upstream say a text from now on. */
const say = (text: string) => {
  const bytes = new TextEncoder().encode(text);
  world.upstream = { name: "embedded", fetch: async () => [{ name: "text", bytes }] };
};

const publish = async (text: string) => {
  say(text);
  expect((await world.runToEnd()).outcome).toBe("published");
};

/** Generations whose manifests are in R2, in order. */
const keptManifests = () =>
  [...world.store.r2.keys()]
    .filter((key) => key.startsWith(GENERATIONS_PREFIX))
    .map((key) => Number(key.slice(GENERATIONS_PREFIX.length)))
    .toSorted((a, b) => a - b);

/** Upstream texts that are archived, in order. */
const archived = () =>
  [...world.archive.files.values()].map((bytes) => new TextDecoder().decode(bytes)).toSorted();

/** Texts that are stored as blobs, in order. */
const storedTexts = () =>
  [...world.store.kv]
    .filter(([key]) => key !== MANIFEST_KEY)
    .map(([, bytes]) => new TextDecoder().decode(bytes))
    .toSorted((a, b) => a.localeCompare(b));

const collect = () => world.collect();

describe("upstream bytes and manifests", () => {
  it("are kept for as long as a version is retained, and no longer", async () => {
    for (let n = 0; n < CONTENTS_RETAINED; n++) await publish(`text ${n}`);
    expect(archived()).toHaveLength(CONTENTS_RETAINED);
    expect(keptManifests()).toHaveLength(CONTENTS_RETAINED);
    await publish("text a");
    await publish("text b");
    await collect();
    expect(archived()).not.toContain("text 1");
    expect(archived()).toContain("text 2");
    expect(archived()).toHaveLength(CONTENTS_RETAINED);
    expect(keptManifests()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it("that the next run begins with are kept, though no version names them", async () => {
    world = new CoordinatorWorld();
    await world.runToEnd();
    const unchangedBytes = async (name: string) => {
      const unused = anAirportRow({ id: "1", iata_code: "", name });
      world.upstream = anUpstream([...moreAirports(AIRPORTS_AT_FIRST), unused]);
      const run = await world.runToEnd();
      expect(run.outcome).toBe("unchanged");
      const sha256 = run.upstream["airports.csv.gz"]?.sha256 ?? "";
      expect(Object.values(world.current()?.sources ?? {})).not.toContain(sha256);
      return sha256;
    };
    const [first, second] = [await unchangedBytes("one"), await unchangedBytes("two")];
    await collect();
    expect(world.archive.files.has(second)).toBe(true);
    expect(world.archive.files.has(first)).toBe(false);
  });

  it("of a dry run go when it has ended, and those that guards refused stay", async () => {
    await publish("one");
    say("two");
    const { run } = await world.enqueue({ mode: "dry_run" });
    await world.drain(() => world.run(run.id).stage === "parse");
    expect(archived()).toEqual(["one", "two"]);
    await world.drain();
    expect(world.run(run.id).outcome).toBe("dry_run");
    await collect();
    expect(archived()).toEqual(["one"]);
    say("bad");
    expect((await world.runToEnd()).state).toBe("failed");
    await collect();
    expect(archived()).toEqual(["bad", "one"]);
  });

  it.each([
    ["by itself", (id: string) => world.coordinator.cancel(id, "ops")],
    ["by a pause", () => world.coordinator.pause(PAUSE, true)],
  ])("of a run that is cancelled between two steps go, too: %s", async (_, cancel) => {
    await publish("one");
    say("two");
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).stage === "parse");
    await cancel(run.id);
    await world.drain();
    expect(world.run(run.id).state).toBe("cancelled");
    await collect();
    expect(archived()).toEqual(["one"]);
  });

  it("are left alone while a run is under way, however long a pause holds it", async () => {
    await publish("one");
    say("two");
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).stage === "parse");
    await world.coordinator.pause(PAUSE, false);
    world.crash();
    await collect();
    expect(archived()).toEqual(["one", "two"]);
    await world.coordinator.cancel(run.id, "ops");
    await collect();
    expect(archived()).toEqual(["one"]);
  });

  it("stay for a day after the last version that named them is gone", async () => {
    for (let n = 0; n <= CONTENTS_RETAINED; n++) await publish(`text ${n}`);
    world.time += HOUR_MS;
    for (const wait of [0, 12 * HOUR_MS, 11 * HOUR_MS]) {
      world.time += wait;
      await world.coordinator.reconcile();
      await world.drain();
      expect(storedTexts()).toContain("text 0");
    }
    world.time += HOUR_MS;
    await world.coordinator.reconcile();
    await world.drain();
    expect(storedTexts()).not.toContain("text 0");
    expect(storedTexts()).toContain("text 1");
  });

  it("that are named again in the meantime stay", async () => {
    for (let n = 0; n <= CONTENTS_RETAINED; n++) await publish(`text ${n}`);
    world.time += HOUR_MS;
    await world.coordinator.reconcile();
    await world.drain();
    await publish("text 0");
    await collect();
    expect(storedTexts()).toContain("text 0");
  });

  it("that a coordinator has left behind which is gone are found all the same", async () => {
    const stray = new TextEncoder().encode("stray");
    await world.store.writeBlob(sha256Hex(stray), stray);
    await publish("one");
    await collect();
    expect(storedTexts()).toEqual(["one"]);
  });

  it.each(["archive list", "r2 list", "archive delete", "r2 delete", "kv delete"])(
    "go also if a store refuses at first to “%s”, or the coordinator is lost",
    async (refused) => {
      for (let n = 0; n <= CONTENTS_RETAINED; n++) await publish(`text ${n}`);
      let refusals = 2;
      world.before = (call) => {
        if (!call.startsWith(refused) || refusals-- <= 0) return;
        if (refusals === 0) world.crash();
        throw new Error("503");
      };
      for (let days = 0; days < 4; days++) await collect();
      expect(refusals).toBeLessThan(0);
      expect(archived()).toHaveLength(CONTENTS_RETAINED);
      expect(keptManifests()).toHaveLength(CONTENTS_RETAINED);
      expect(storedTexts()).toHaveLength(CONTENTS_RETAINED);
    },
  );

  it("are looked for once an hour, however often the cron fires", async () => {
    await publish("one");
    world.time += HOUR_MS;
    const before = world.callsOf("archive list").length;
    for (let ticks = 0; ticks < 5; ticks++) {
      await world.coordinator.reconcile();
      await world.drain();
      world.time += 60_000;
    }
    expect(world.callsOf("archive list")).toHaveLength(before + 1);
  });
});
