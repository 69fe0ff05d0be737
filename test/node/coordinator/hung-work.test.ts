/** Every wait of an alarm ends, by the caller's clock, since the alarm's may have stopped. */
import { describe, expect, it, vi } from "vitest";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { DAY_MS } from "../../../src/platform/time.ts";
import { WORK_LIMIT_MS } from "../../../src/platform/work-limit.ts";
import { startEachFrom, CoordinatorWorld } from "../../builders/coordinator-world.ts";

const TICK_MS = 300_000;

const world = new CoordinatorWorld();
startEachFrom(world, async () => {
  await world.publishVersions(1);
  world.renameAirport("Kloten");
});

/** Lets the first call with a prefix hang for ever, or each one. */
function hangAt(prefix: string, times = 1): () => number {
  let hung = 0;
  world.before = (call) =>
    call.startsWith(prefix) && hung < times
      ? new Promise(() => {
          hung++;
        })
      : undefined;
  return () => hung;
}

/** Lets alarms fire until one hangs. */
async function untilHung(count: () => number): Promise<void> {
  for (const before = count(); count() === before;) {
    world.time = Math.max(world.time, world.alarmAt ?? world.time);
    await Promise.race([
      world.alarm(),
      vi.waitUntil(() => count() > before, { timeout: 240_000, interval: 1 }),
    ]);
  }
}

/** The cron trigger, by a clock that is so far from that of the alarm. */
async function tick(distanceMs: number): Promise<void> {
  const call = () => world.coordinator.reconcile(world.time + distanceMs);
  // As the caller does, which sees that the instance was ended.
  await call().catch(call);
}

const CALLS = [
  "upstream fetch",
  "archive get",
  "archive put",
  "compress",
  "r2 head",
  "r2 list",
  "r2 put catalog/blob",
  `r2 put ${MANIFEST_KEY}`,
  "kv put catalog/blob",
  `kv put ${MANIFEST_KEY}`,
  `kv get ${MANIFEST_KEY}`,
  "d1 save",
];

describe.each([
  ["after its limit", WORK_LIMIT_MS],
  ["at once after the clock was set back by a day", -DAY_MS],
  ["at once after the clock was set forward by a day", DAY_MS],
])("an alarm that hangs ends at a tick, %s", (_, distanceMs) => {
  it.each(CALLS)("at “%s”, and the run goes on", async (call) => {
    const hung = hangAt(call);
    const { run } = await world.enqueue();
    await untilHung(hung);
    await tick(distanceMs);
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ outcome: "published", generation_after: 2 });
    expect(await world.served()).toEqual(world.current());
    expect(world.coordinator.status()).toMatchObject({ outboxLength: 0, replicated: true });
  });
});

describe("an alarm that hangs", () => {
  it("goes on within its limit, however many calls come", async () => {
    const hung = hangAt("upstream fetch");
    const { run } = await world.enqueue();
    await untilHung(hung);
    const { coordinator } = world;
    for (const at of [0, WORK_LIMIT_MS - 1, 1 - WORK_LIMIT_MS]) {
      await coordinator.reconcile(world.time + at);
      await coordinator.cancel("another", { by: "ops", note: null }, world.time + at);
    }
    expect(world.coordinator).toBe(coordinator);
    expect(world.run(run.id)).toMatchObject({ state: "running" });
  });

  it("does not prevent a cancellation, which says when it takes effect", async () => {
    const hung = hangAt("upstream fetch");
    const { run } = await world.enqueue();
    await untilHung(hung);
    const request = { by: "ops", note: null };
    const asked = await world.coordinator.cancel(run.id, request, world.time);
    expect(asked).toMatchObject({ changed: true, run: { state: "running" } });
    await tick(WORK_LIMIT_MS);
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "cancelled", attempt: 1 });
  });

  it.each([WORK_LIMIT_MS, -DAY_MS])(
    "is ended by a cancellation if it is overdue, which takes effect at once (%i ms)",
    async (distanceMs) => {
      const hung = hangAt("upstream fetch");
      const { run } = await world.enqueue();
      await untilHung(hung);
      const at = world.time + distanceMs;
      const cancel = () => world.coordinator.cancel(run.id, { by: "ops", note: null }, at);
      expect(await cancel().catch(cancel)).toMatchObject({ changed: true });
      await world.alarm();
      expect(world.run(run.id)).toMatchObject({ state: "cancelled" });
      expect(await world.runToEnd()).toMatchObject({ outcome: "published" });
    },
  );

  it("fails the run as lease_expired if its step hangs five times, and its retry publishes", async () => {
    const hung = hangAt("upstream fetch", 5);
    const { run } = await world.enqueue();
    const startedAt = world.time;
    while (hung() < 5) {
      await untilHung(hung);
      world.time += TICK_MS;
      await tick(0);
    }
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ state: "failed", error: { code: "lease_expired" } });
    expect(world.time - startedAt).toBeLessThanOrEqual(6 * TICK_MS);
    const [retry] = world.state.runs();
    expect(retry).toMatchObject({ trigger: "retry", outcome: "published" });
  });

  it("repeats the replication of a recorded version for as long as it hangs", async () => {
    const hung = hangAt(`kv put ${MANIFEST_KEY}`, 8);
    const { run } = await world.enqueue();
    while (hung() < 8) {
      await untilHung(hung);
      world.time += TICK_MS;
      await tick(0);
    }
    await world.drain();
    expect(world.run(run.id)).toMatchObject({ outcome: "published" });
    expect(await world.served()).toEqual(world.current());
  });
});
