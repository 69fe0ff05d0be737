import { beforeEach, describe, expect, it } from "vitest";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { VERSIONS_RETAINED } from "../../../src/ingest/versions.ts";
import { StoreTimeout } from "../../../src/storage/deadline.ts";
import { blobKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { QuickPipeline } from "../../builders/quick-pipeline.ts";

const LATE_DELETION_MS = 60_000;
const LOOK_AGAIN_MS = 120_000;

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

describe("a deletion that timed out", () => {
  /**
   * Makes garbage of the blob of `text 0`, and lets something happen at its deletion from KV.
   *
   * @returns when it happened.
   */
  const deleteWith = async (happening: (call: string) => void) => {
    for (let n = 0; n < VERSIONS_RETAINED; n++) await publish(`text ${n}`);
    let hasHappened = false;
    world.before = (call) => {
      if (hasHappened || !call.startsWith("kv delete")) return;
      hasHappened = true;
      happening(call);
    };
    say("text z");
    await world.enqueue();
    await world.drain(() => hasHappened);
    return world.time;
  };
  const failToDelete = () =>
    deleteWith((call) => {
      throw new StoreTimeout(call);
    });

  it("keeps a run from storing what it may yet take away: the run waits, and says until when", async () => {
    const failedAt = await failToDelete();
    say("text 0");
    const until = failedAt + LATE_DELETION_MS;
    const { run, ...answer } = await world.enqueue();
    expect(answer).toMatchObject({
      disposition: "queued",
      willStart: `at:${new Date(until).toISOString()}`,
    });
    while (world.alarmAt !== null && world.alarmAt < until) {
      world.time = world.alarmAt;
      await world.alarm();
    }
    expect(world.alarmAt).toBe(until);
    expect(world.run(run.id).state).toBe("queued");
    // The store carries out at the last moment what it had been asked for.
    world.store.kv.delete(blobKey(sha256Hex("text 0")));
    await world.drain();
    expect(world.run(run.id).outcome).toBe("published");
    expect(world.store.kv.has(blobKey(sha256Hex("text 0")))).toBe(true);
  });

  it.each(["after", "in"])(
    "keeps a run from it also when the coordinator is lost %s the deletion",
    async (when) => {
      if (when === "in") await deleteWith(() => world.crash());
      else await failToDelete();
      if (when === "after") world.crash();
      const lostAt = world.time;
      const { run } = await world.enqueue({ mode: "dry_run" });
      await world.drain(() => world.run(run.id).state === "succeeded");
      expect(world.time).toBe(lostAt + LATE_DELETION_MS);
    },
  );

  it("holds no run up more than once, though the store refuses each deletion", async () => {
    const failedAt = await failToDelete();
    world.before = (call) => {
      if (call.startsWith("kv delete")) throw new StoreTimeout(call);
    };
    const { run } = await world.enqueue({ mode: "dry_run" });
    await world.drain(() => world.run(run.id).state === "succeeded");
    expect(world.time).toBe(failedAt + LATE_DELETION_MS);
  });

  it("is tried again in the meantime while no run waits for it, and may still be late", async () => {
    const failedAt = await failToDelete();
    await world.drain(() => world.time > failedAt);
    expect(world.time - failedAt).toBeLessThan(LATE_DELETION_MS);
    expect(world.store.kv.has(blobKey(sha256Hex("text 0")))).toBe(false);
    const until = new Date(failedAt + LATE_DELETION_MS).toISOString();
    expect(await world.enqueue()).toMatchObject({ willStart: `at:${until}` });
  });
});

describe("a manifest that timed out", () => {
  const textOf = (manifest: Manifest) =>
    Uint8Array.from(new TextEncoder().encode(JSON.stringify(manifest)));

  /** Publishes another version, with a KV that takes its manifest late, and gives that. */
  const publishLate = async (text: string) => {
    let late: Manifest | null = null;
    world.before = (call) => {
      if (late !== null || call !== `kv put ${MANIFEST_KEY}`) return;
      late = world.current();
      throw new StoreTimeout(call);
    };
    await world.drain();
    say(text);
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "succeeded");
    if (late === null) throw new Error("no manifest was late");
    return textOf(late);
  };
  const rollBack = async () => {
    const { generation } = world.current() ?? { generation: 0 };
    expect(await world.coordinator.rollback(generation - 1)).toMatchObject({ ok: true });
    await world.drain(() => world.coordinator.status().replicated);
  };
  const land = (manifest: Uint8Array<ArrayBuffer>) => {
    world.store.kv.set(MANIFEST_KEY, manifest);
  };
  const replaced = () => world.events.filter(({ event }) => event === "late_manifest_replaced");

  it("and comes after a newer one is replaced by that within two minutes", async () => {
    await publish("one");
    const late = await publishLate("two");
    await rollBack();
    const before = world.time;
    land(late);
    expect(await world.served()).toMatchObject({ generation: 2 });
    await world.drain();
    expect(world.time - before).toBeLessThanOrEqual(LOOK_AGAIN_MS);
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toMatchObject([{ level: "warn", fields: { generation: 3 } }]);
  });

  it("is looked for once, and not again", async () => {
    await publish("one");
    await publishLate("two");
    await world.drain();
    expect(world.alarmAt).toBeNull();
    expect(replaced()).toEqual([]);
    const reads = world.callsOf(`kv get ${MANIFEST_KEY}`).length;
    for (let alarms = 0; alarms < 3; alarms++) await world.alarm();
    expect(world.callsOf(`kv get ${MANIFEST_KEY}`)).toHaveLength(reads);
  });

  it("is replaced also when it was that of a rollback, and by a coordinator that was lost since", async () => {
    for (const text of ["one", "two"]) await publish(text);
    let late: Manifest | null = null;
    world.before = (call) => {
      if (late !== null || call !== `kv put ${MANIFEST_KEY}`) return;
      late = world.current();
      throw new StoreTimeout(call);
    };
    await rollBack();
    if (late === null) throw new Error("no manifest was late");
    await world.coordinator.rollback(2);
    await world.drain(() => world.coordinator.status().replicated);
    world.crash();
    land(textOf(late));
    await world.drain();
    expect(await world.served()).toMatchObject({ generation: 4 });
    expect(replaced()).toHaveLength(1);
  });

  it("is replaced also when the coordinator was lost while it was written", async () => {
    await publish("one");
    let late: Manifest | null = null;
    world.before = (call) => {
      if (late !== null || call !== `kv put ${MANIFEST_KEY}`) return;
      late = world.current();
      world.crash();
    };
    say("two");
    const { run } = await world.enqueue();
    await world.drain(() => world.run(run.id).state === "succeeded");
    await rollBack();
    if (late === null) throw new Error("no manifest was late");
    land(textOf(late));
    await world.drain();
    expect(await world.served()).toMatchObject({ generation: 3 });
  });

  it("is looked for until the stores can be read and written again", async () => {
    await publish("one");
    const late = await publishLate("two");
    await rollBack();
    land(late);
    let refusals = 2;
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && refusals-- > 0) throw new StoreTimeout(call);
    };
    await world.drain();
    expect(refusals).toBeLessThan(0);
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toHaveLength(1);
  });

  it("leaves nothing to look for where nothing is published", async () => {
    world.before = (call) => {
      if (call.startsWith("archive open")) throw new StoreTimeout(call);
    };
    say("one");
    expect((await world.runToEnd()).state).toBe("failed");
    expect(world.alarmAt).toBeNull();
  });
});
