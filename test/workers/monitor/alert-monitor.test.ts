import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createAlertHistory } from "../../../src/storage/alert-history.ts";
import worker from "../../../src/worker/worker.ts";
import { coordinator } from "../ingest/coordinator-under-test.ts";

const EVERY_FIVE_MINUTES = "*/5 * * * *";
const FIRST = Date.parse("2026-11-20T12:00:00.000Z");
const history = createAlertHistory(env.HISTORY);

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

describe("the cron trigger of the alerts", () => {
  it("evaluates before anything is published, and reports that, during a pause too", async () => {
    // The first run of a new service waits for the end of a pause.
    await coordinator().pause({ by: "test", note: null, until: null }, false);
    await fire(0);
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
