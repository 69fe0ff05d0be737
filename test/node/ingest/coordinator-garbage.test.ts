import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { VERSIONS_RETAINED } from "../../../src/ingest/versions.ts";
import { GENERATIONS_PREFIX, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import {
  AIRPORTS_AT_FIRST,
  anUpstream,
  CoordinatorWorld,
} from "../../builders/coordinator-world.ts";
import { QuickPipeline } from "../../builders/quick-pipeline.ts";
import { moreAirports } from "../../builders/small-snapshot.ts";
import { anAirportRow } from "../../builders/source.ts";

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

/** The newest retained generation of a text. */
const generationOf = (text: string) => {
  const found = world.coordinator
    .versions()
    .find(({ catalogSha256 }) => catalogSha256 === sha256Hex(text));
  if (found === undefined) throw new Error(`${text} is not retained`);
  return found.generation;
};

const isReadyToRestore = async () => {
  const held = await world.coordinator.hold({ by: "job", kind: "restore", forMs: 600_000 });
  if (!held.ok) throw new Error(`not held: ${held.reason}`);
  return held.ready;
};

describe("upstream bytes and manifests", () => {
  it("are kept for as long as a version is retained, and no longer", async () => {
    for (let n = 0; n < VERSIONS_RETAINED; n++) await publish(`text ${n}`);
    expect(archived()).toHaveLength(VERSIONS_RETAINED);
    expect(keptManifests()).toHaveLength(VERSIONS_RETAINED);
    await publish("text a");
    await publish("text b");
    expect(archived()).not.toContain("text 1");
    expect(archived()).toContain("text 2");
    expect(archived()).toHaveLength(VERSIONS_RETAINED);
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
    expect(archived()).toEqual(["one"]);
    say("bad");
    expect((await world.runToEnd()).state).toBe("failed");
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
    expect(archived()).toEqual(["one"]);
  });

  it("are left alone while a run is under way, and while a job holds the coordinator", async () => {
    await publish("one");
    say("two");
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).stage === "parse");
    await world.coordinator.pause(PAUSE, false);
    world.crash();
    await world.drain();
    await world.alarm();
    expect(archived()).toEqual(["one", "two"]);
    await world.coordinator.cancel(run.id, "ops");
    await world.coordinator.hold({ by: "job", kind: "backup", forMs: 60_000 });
    await world.alarm();
    expect(archived()).toEqual(["one", "two"]);
    await world.coordinator.release("job");
    await world.drain();
    expect(archived()).toEqual(["one"]);
  });

  it("are not deleted if another version is recorded while R2 is looked through, until the stores show it", async () => {
    for (const text of ["one", "two", "shown"]) await publish(text);
    let rollbacks = 0;
    world.before = async (call) => {
      if (call === "kv put catalog/manifest") throw new Error("refused");
      if (call !== "archive list") return;
      for (; rollbacks <= VERSIONS_RETAINED; rollbacks++)
        await world.coordinator.rollback(generationOf(rollbacks % 2 === 0 ? "one" : "two"));
    };
    await world.enqueue({ mode: "dry_run" });
    await world.drain(() => rollbacks > 0);
    expect(world.coordinator.versions().map(({ generation }) => generation)).not.toContain(3);
    expect((await world.served())?.generation).toBe(3);
    expect(storedTexts()).toEqual(["one", "shown", "two"]);

    world.before = () => {};
    await world.drain();
    expect((await world.served())?.generation).toBe(3 + rollbacks);
    expect(storedTexts()).toEqual(["one", "two"]);
  });

  it("are not deleted when a job has taken hold while R2 was looked through", async () => {
    await publish("one");
    say("two");
    const held: unknown[] = [];
    world.before = async (call) => {
      if (call === "archive list")
        held.push(await world.coordinator.hold({ by: "job", kind: "restore", forMs: 60_000 }));
    };
    await world.enqueue({ mode: "dry_run" });
    await world.drain(() => held.length > 0);
    expect(held).toMatchObject([{ ok: true }]);
    expect(archived()).toEqual(["one", "two"]);
  });

  it.each(["kv delete", "archive delete", `r2 delete ${GENERATIONS_PREFIX}`])(
    "are gone before a restore that takes hold meanwhile is ready to write: at “%s”",
    async (deletion) => {
      for (let n = 0; n <= VERSIONS_RETAINED; n++) await publish(`text ${n}`);
      const ready: boolean[] = [];
      world.before = async (call) => {
        if (call.startsWith(deletion)) ready.push(await isReadyToRestore());
      };
      say("text z");
      await world.enqueue();
      await world.drain(() => ready.length > 0);
      expect(ready[0]).toBe(false);
      expect(await isReadyToRestore()).toBe(true);
    },
  );

  it("that a store refused to delete may be deleted late, so that a restore is not ready at once", async () => {
    for (let n = 0; n <= VERSIONS_RETAINED; n++) await publish(`text ${n}`);
    let refusals = 0;
    world.before = (call) => {
      if (!call.startsWith("kv delete")) return;
      refusals++;
      throw new Error("503");
    };
    say("text z");
    await world.enqueue();
    await world.drain(() => refusals > 0);
    expect(await isReadyToRestore()).toBe(false);
    world.time += 60_000;
    expect(await isReadyToRestore()).toBe(true);
  });

  it.each(["archive list", "r2 list", "archive delete", "r2 delete"])(
    "go also if R2 refuses at first to “%s”, or the coordinator is lost",
    async (refused) => {
      for (let n = 0; n <= VERSIONS_RETAINED; n++) await publish(`text ${n}`);
      let refusals = 2;
      world.before = (call) => {
        if (!call.startsWith(refused) || refusals-- <= 0) return;
        if (refusals === 0) world.crash();
        throw new Error("503");
      };
      await publish("text z");
      await world.drain();
      await world.alarm();
      await world.drain();
      expect(refusals).toBeLessThan(0);
      expect(archived()).toHaveLength(VERSIONS_RETAINED);
      expect(keptManifests()).toHaveLength(VERSIONS_RETAINED);
    },
  );

  it("are looked for once, and not at each alarm", async () => {
    await publish("one");
    const before = world.callsOf("archive list").length;
    for (let alarms = 0; alarms < 5; alarms++) await world.alarm();
    expect(world.callsOf("archive list")).toHaveLength(before);
  });
});
