import { createScheduledController, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ALERTS_INSTANCE } from "../../../src/platform/instances.ts";
import { createAlertHistory } from "../../../src/storage/alert-history.ts";
import worker from "../../../src/worker/worker.ts";
import { coordinator, RUN_TIMEOUT_MS, runToEnd } from "../ingest/coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "../ingest/small-world.ts";

const EVERY_FIVE_MINUTES = "*/5 * * * *";
const FIRST = Date.parse("2026-11-20T12:00:00.000Z");
const history = createAlertHistory(env.HISTORY);

/** A stub for each call: one that saw its object reset stays broken. */
const monitor = () => env.ALERTS.getByName(ALERTS_INSTANCE);

/** Fires the Worker's cron trigger for a tick. */
async function fire(tick: number): Promise<void> {
  const scheduledTime = new Date(FIRST + tick * 300_000);
  await worker.scheduled(
    createScheduledController({ scheduledTime, cron: EVERY_FIVE_MINUTES }),
    env,
  );
}

/** Evaluations in D1, newest first. */
async function rows() {
  const page = await history.listRuns({ limit: 200 });
  if (!page.ok) throw new Error(page.reason);
  return page.runs;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the cron trigger of the alerts", () => {
  it("evaluates before anything is published, and reports that, during a pause too", async () => {
    // The first run of a new service waits for the end of a pause.
    await coordinator().pause({ by: "test", note: null, until: null }, false);
    await fire(0);
    await coordinator().resume();
    const [row] = await rows();
    expect(row).toMatchObject({ trigger: "cron", worst: "fail", firing: 2, changed: true });
    expect(row?.results).toContainEqual(
      expect.objectContaining({
        rule: "catalog_stale",
        state: "firing",
        message: "Nothing is published.",
      }),
    );
    expect(row?.results).toContainEqual(
      expect.objectContaining({
        rule: "token_expiring",
        state: "firing",
        message: 'The admin token "expired" has expired.',
      }),
    );
  });

  it("evaluates once for each tick, however often it fires", async () => {
    const before = (await rows()).length;
    await Promise.all([fire(1), fire(1), fire(1)]);
    await fire(1);
    expect(await rows()).toHaveLength(before + 1);
  });
});

describe("an evaluation after an ingest run", () => {
  beforeAll(async () => {
    await dropAirports(SMALL_AIRPORTS);
    await runToEnd({ source: "dropped" });
  }, RUN_TIMEOUT_MS);

  it("finds at the next ticks that all is well again", async () => {
    const before = (await rows()).length;
    await fire(2);
    await fire(3);
    expect(await rows()).toHaveLength(before + 2);
    const [newest] = await rows();
    const stale = newest?.results.find(({ rule }) => rule === "catalog_stale");
    expect(stale).toMatchObject({ state: "resolved" });
  });
});

describe("an evaluation while D1 is down", () => {
  it("ends, and its row survives an eviction and arrives once D1 is back", async () => {
    const before = await rows();
    vi.spyOn(env.HISTORY, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: down");
    });
    await fire(10);
    const { lastRun, outboxLength } = await monitor().status();
    expect(outboxLength).toBe(1);
    expect(lastRun?.results).toContainEqual(
      expect.objectContaining({ rule: "queue_backlog", state: "nodata" }),
    );
    vi.restoreAllMocks();
    expect(await rows()).toEqual(before);

    await evictDurableObject(monitor());
    await fire(11);
    expect((await monitor().status()).outboxLength).toBe(0);
    const after = await rows();
    expect(after).toHaveLength(before.length + 2);
    expect(after[1]).toMatchObject({ id: lastRun?.id, nodata: 1 });
  });
});
