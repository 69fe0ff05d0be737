import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { INGEST_INSTANCE } from "../../../../src/platform/instances.ts";
import { admin } from "../../checked-fetch.ts";

async function findLoss(): Promise<object[] | undefined> {
  const answer = await admin("GET", "/admin/monitor/status");
  const { checks } = await answer.json<{ checks: { [name: string]: object[] } }>();
  return checks["rule:history_lost"];
}

async function cancelledRows(): Promise<object[]> {
  const query = "SELECT id FROM ingest_runs WHERE state = 'cancelled'";
  return (await env.HISTORY.prepare(query).all()).results;
}

it("the status reports a loss as soon as an audit entry has made all tables again", async () => {
  await admin("POST", "/admin/ingest/pause", {});
  const queued = await admin("POST", "/admin/ingest/queue", {});
  const { run } = await queued.json<{ run: { id: string } }>();
  await admin("POST", `/admin/ingest/runs/${run.id}/cancel`, {});
  await expect.poll(cancelledRows).toHaveLength(1);
  expect(await findLoss()).toMatchObject([{ status: "pass" }]);
  for (const table of ["alert_runs", "audit", "ingest_runs", "d1_migrations"])
    await env.HISTORY.prepare(`DROP TABLE ${table}`).run();
  await admin("POST", "/admin/ingest/pause", { note: "written to D1" });
  await expect.poll(findLoss).toMatchObject([{ status: "warn" }]);
});

it.each([
  ["fails", () => Promise.reject(new Error("D1_ERROR: down"))],
  ["never answers", () => new Promise<never>(() => {})],
])("the coordinator opens and answers while D1 %s", async (_, answer) => {
  const coordinator = () => env.COORDINATOR.getByName(INGEST_INSTANCE);
  const spy = vi.spyOn(env.HISTORY, "batch").mockImplementation(answer);
  await evictDurableObject(coordinator());
  const { pause } = await coordinator().status();
  expect(pause?.by).toBe("operator");
  expect(spy).toHaveBeenCalled();
  vi.restoreAllMocks();
});
