import { beforeEach, describe, expect, it } from "vitest";
import type { Manifest } from "../../../src/catalog/manifest.ts";
import { StoreTimeout } from "../../../src/storage/deadline.ts";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { QuickPipeline } from "../../builders/quick-pipeline.ts";

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
  const tick = async () => {
    await world.coordinator.reconcile();
    await world.drain();
  };
  const replaced = () => world.events.filter(({ event }) => event === "manifest_replaced");

  it("and comes after a newer one is replaced by that at the next tick", async () => {
    await publish("one");
    const late = await publishLate("two");
    await rollBack();
    land(late);
    expect(await world.served()).toMatchObject({ generation: 2 });
    await tick();
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toMatchObject([{ level: "warn", fields: { generation: 3 } }]);
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
    await tick();
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
    await tick();
    expect(await world.served()).toMatchObject({ generation: 3 });
  });

  it("is looked for at each tick, until the stores can be read and written again", async () => {
    await publish("one");
    const late = await publishLate("two");
    await rollBack();
    land(late);
    let refusals = 2;
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && refusals-- > 0) throw new StoreTimeout(call);
    };
    for (let ticks = 0; ticks < 3; ticks++) await tick();
    expect(refusals).toBeLessThan(0);
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toHaveLength(1);
  });
});
