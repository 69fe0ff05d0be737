import { beforeEach, describe, expect, it } from "vitest";
import type { Manifest } from "../../../src/parts/manifest.ts";
import { StoreTimeout } from "../../../src/platform/deadline.ts";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { manifestBytes } from "../../builders/memory-catalog-store.ts";

let world: CoordinatorWorld;
/** The manifest that KV seemed to refuse. */
let late: Manifest | null;

beforeEach(() => {
  world = new CoordinatorWorld();
  late = null;
});

/** Lets KV take the next manifest late: its write times out, or the coordinator is lost by then. */
function takeLate(fail: (call: string) => void): void {
  world.before = (call) => {
    if (late !== null || call !== `kv put ${MANIFEST_KEY}`) return;
    late = world.current();
    fail(call);
  };
}

const timeOut = (call: string) => {
  throw new StoreTimeout(call);
};

async function rollBack(): Promise<void> {
  const { generation } = world.current() ?? { generation: 0 };
  expect(await world.coordinator.rollback(generation - 1)).toMatchObject({ ok: true });
  await world.drain(() => world.coordinator.status().replicated);
}

/** Lets the late manifest arrive, and the cron compare the stores. */
async function land(): Promise<void> {
  if (late === null) throw new Error("no manifest was late");
  world.store.kv.set(MANIFEST_KEY, manifestBytes(late));
  expect(await world.served()).toEqual(late);
  await tick();
}

async function tick(): Promise<void> {
  await world.coordinator.reconcile();
  await world.drain();
}

const replaced = () => world.events.filter(({ event }) => event === "manifest_replaced");

describe("a manifest that arrives after a newer one", () => {
  it.each([
    ["its write timed out", timeOut],
    ["the coordinator was lost while it was written", () => world.crash()],
  ])("gives way to the newer one at the next tick if %s", async (_, fail) => {
    await world.publishVersions(1);
    takeLate(fail);
    await world.publishVersions(1);
    await rollBack();
    await land();
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toMatchObject([{ level: "warn", fields: { generation: 3 } }]);
  });

  it("gives way at a later tick if the stores take no write at the next one", async () => {
    await world.publishVersions(1);
    takeLate(timeOut);
    await world.publishVersions(1);
    await rollBack();
    let refusals = 2;
    world.before = (call) => {
      if (call === `kv put ${MANIFEST_KEY}` && refusals-- > 0) throw new StoreTimeout(call);
    };
    await land();
    for (let ticks = 0; ticks < 2; ticks++) await tick();
    expect(refusals).toBeLessThan(0);
    expect(await world.served()).toMatchObject({ generation: 3 });
    expect(replaced()).toHaveLength(1);
  });
});
