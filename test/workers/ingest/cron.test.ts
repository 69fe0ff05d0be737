import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { CRON_JOBS } from "../../../src/schedule.ts";
import worker from "../../../src/worker.ts";
import { coordinator, historyRows, settled } from "./coordinator-under-test.ts";

const [CRON = ""] = Object.keys(CRON_JOBS);
const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = Date.parse("2026-11-01T04:17:00.000Z");

/** Fires the Worker's cron trigger for a day. */
async function fire(day: number, cron = CRON): Promise<void> {
  const scheduledTime = new Date(FIRST + day * DAY_MS);
  await worker.scheduled(createScheduledController({ scheduledTime, cron }), env);
}

const pause = () => coordinator().pause({ by: "ops", reason: null, until: null }, true);

const rows = async () => {
  await settled();
  return historyRows();
};

beforeAll(async () => {
  await pause();
});

describe("the cron trigger", () => {
  it("throws for a string that nobody knows, and queues nothing", async () => {
    for (const cron of ["* * * * *", "", CRON.slice(1), "constructor", "__proto__"])
      await expect(fire(0, cron), cron).rejects.toThrow(`no job for the cron trigger "${cron}"`);
    expect(await rows()).toEqual([]);
  });

  it("makes one row of the ticks that come while paused, and counts each once", async () => {
    await fire(1);
    await fire(1);
    expect(await rows()).toMatchObject([
      { state: "skipped", trigger: "cron", skipped_reason: "paused", skip_count: 1 },
    ]);
    await Promise.all([fire(2), fire(3), fire(3)]);
    expect(await rows()).toMatchObject([{ state: "skipped", skip_count: 3 }]);
    expect((await coordinator().status()).queued).toEqual([]);
  });

  it("does not make up for them after resume, and takes the next one, once", async () => {
    await coordinator().resume();
    await settled();
    expect(await coordinator().status()).toMatchObject({ running: null, queued: [] });
    await Promise.all([fire(4), fire(4)]);
    await fire(4);
    await pause();
    await expect.poll(async () => (await coordinator().status()).running).toBeNull();
    const { queued } = await coordinator().status();
    for (const { id } of queued) await coordinator().cancel(id, "ops");
    const taken = (await rows()).slice(1);
    expect(taken).toMatchObject([
      { state: "cancelled", trigger: "cron", mode: "incremental", skip_count: 0 },
    ]);
  });
});
