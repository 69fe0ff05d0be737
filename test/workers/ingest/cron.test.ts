import { createScheduledController, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ALERTS_INSTANCE, INGEST_INSTANCE } from "../../../src/platform/instances.ts";
import { CRON_JOBS } from "../../../src/coordinator/schedule.ts";
import { StoreTimeout } from "../../../src/platform/deadline.ts";
import worker from "../../../src/worker/worker.ts";
import { coordinator, historyRows, settled } from "./coordinator-under-test.ts";

const [CRON = ""] = Object.keys(CRON_JOBS);
const cronOf = (wanted: string) =>
  Object.keys(CRON_JOBS).find((cron) => CRON_JOBS[cron]?.job === wanted) ?? "";
const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = Date.parse("2026-11-01T04:17:00.000Z");

/** Fires the Worker's cron trigger for a day. */
async function fire(day: number, cron = CRON, bindings: Env = env): Promise<void> {
  const scheduledTime = new Date(FIRST + day * DAY_MS);
  await worker.scheduled(createScheduledController({ scheduledTime, cron }), bindings);
}

type Instances = "COORDINATOR" | "ALERTS";

/** Bindings of which the first stub for the instances of one is broken: it saw a reset. */
async function withBrokenStub(binding: Instances, name: string): Promise<Env> {
  const namespace: DurableObjectNamespace = env[binding];
  const broken = namespace.getByName(name);
  await runInDurableObject(broken, (_, state) => state.abort("reset by a test")).catch(() => {});
  const stubs = [broken];
  const getByName = () => stubs.pop() ?? namespace.getByName(name);
  return { ...env, [binding]: { getByName } };
}

const pause = () => coordinator().pause({ by: "ops", note: null, until: null }, true);

const rows = async () => {
  await settled();
  return historyRows();
};

beforeAll(async () => {
  await pause();
});

describe("the cron trigger", () => {
  it("throws for an unknown string and queues nothing", async () => {
    for (const cron of ["* * * * *", CRON.slice(1), "constructor", "__proto__"])
      await expect(fire(0, cron), cron).rejects.toThrow(`no job for the cron trigger "${cron}"`);
    expect(await rows()).toEqual([]);
  });

  it("counts each tick once, however often it fires and however wrangler dev names it", async () => {
    await Promise.all([fire(1), fire(1)]);
    await fire(1, ""); // as `wrangler dev` does for its /cdn-cgi/local/scheduled
    expect(await rows()).toMatchObject([
      { state: "skipped", trigger: "cron", skipped_reason: "paused", skip_count: 1 },
    ]);
  });

  it("reaches its job through a new stub when the first one is broken, and counts once", async () => {
    await fire(5, CRON, await withBrokenStub("COORDINATOR", INGEST_INSTANCE));
    const { lastTicks } = await coordinator().status();
    expect(lastTicks).toEqual({ [CRON]: FIRST + 5 * DAY_MS });
    expect((await rows()).at(-1)).toMatchObject({ state: "skipped", skip_count: 2 });
  });

  it.each([
    ["has timed out", 6, new StoreTimeout("coordinator")],
    ["is overloaded", 7, Object.assign(new Error("too many requests"), { overloaded: true })],
  ])("calls again when the coordinator %s, and counts once", async (_, day, fault) => {
    const stubs = [{ tick: () => Promise.reject(fault) }];
    const getByName = () => stubs.pop() ?? coordinator();
    const bindings = { ...env, COORDINATOR: { getByName } } as unknown as Env; // all that it calls
    await fire(day, CRON, bindings);
    expect(stubs).toEqual([]);
    expect((await rows()).at(-1)).toMatchObject({ state: "skipped", skip_count: day - 3 });
  });

  it("reaches the alerts and the backups through a new stub as well", async () => {
    const monitor = () => env.ALERTS.getByName(ALERTS_INSTANCE);
    await monitor().status();
    await fire(5, cronOf("watch"), await withBrokenStub("ALERTS", ALERTS_INSTANCE));
    expect((await monitor().status()).lastRun).toMatchObject({ trigger: "cron" });
    await fire(5, cronOf("back_up"), await withBrokenStub("COORDINATOR", INGEST_INSTANCE));
    await expect
      .poll(() => coordinator().jobs(10))
      .toMatchObject([
        { kind: "verify", trigger: "cron", state: "succeeded" },
        { kind: "run", trigger: "cron", state: "succeeded" },
      ]);
  });
});
