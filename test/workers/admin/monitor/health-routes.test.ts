import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import notice from "../../../../data/NOTICE.md";
import { INGEST_INSTANCE } from "../../../../src/platform/instances.ts";
import { createCatalogStore } from "../../../../src/storage/catalog-store.ts";
import { aVersion } from "../../../builders/manifest.ts";
import { admin, checkedFetch } from "../../checked-fetch.ts";
import { A_CLAIM } from "../../../builders/memory-catalog-store.ts";

/** An object that opens on a busy machine may take longer than a status waits for it. */
beforeEach(async () => {
  await env.COORDINATOR.getByName(INGEST_INSTANCE).status();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** The log's lines of an event, from now on. */
function watchLog(event: string) {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const lines = () => log.mock.calls.map(([line]) => JSON.parse(String(line)));
  return () => lines().filter((line) => line.event === event);
}

describe("GET /admin/monitor/status", () => {
  it("probes the real stores and the coordinator", async () => {
    const answer = await admin("GET", "/admin/monitor/status");
    expect(await answer.json()).toMatchObject({
      status: "fail",
      output: expect.stringContaining("catalog:present: nothing is published"),
      checks: {
        "kv:responseTime": [{ status: "pass" }],
        "d1:responseTime": [{ status: "pass" }],
        "r2:responseTime": [{ status: "pass" }],
        "coordinator:responseTime": [{ status: "pass" }],
        "ingest:paused": [{ status: "pass", observedValue: false }],
      },
    });
    expect(answer.status).toBe(503);
  });

  it("names the tables that D1 has lost, and the loss once the coordinator has made them again", async () => {
    const logged = watchLog("history_tables_lost");
    const check = async (name: string) => {
      const answer = await admin("GET", "/admin/monitor/status");
      const { checks } = await answer.json<{ checks: { [name: string]: object } }>();
      return checks[name];
    };
    const d1 = () => check("d1:responseTime");
    expect(await check("rule:history_lost")).toMatchObject([{ status: "pass" }]);
    for (const table of ["audit", "ingest_runs"])
      await env.HISTORY.prepare(`DROP TABLE ${table}`).run();
    const output = expect.stringMatching(/^D1 lacks audit, ingest_runs; .* restored backup/);
    expect(await d1()).toMatchObject([{ status: "fail", output }]);
    const coordinator = env.COORDINATOR.getByName(INGEST_INSTANCE);
    await coordinator.pause({ by: "ops", note: null, until: null }, true); // or it publishes at once
    await coordinator.reconcile();
    await expect.poll(logged).toMatchObject([{ tables: ["audit", "ingest_runs"] }]);
    expect(await d1()).toMatchObject([{ status: "pass" }]);
    expect(await check("rule:history_lost")).toMatchObject([{ status: "warn" }]);
  });

  it("names the store that is down, and only the log says why", async () => {
    const logged = watchLog("check_failed");
    const cause = new Error("R2 is down", { cause: "no route" });
    vi.spyOn(env.ARCHIVE, "head").mockRejectedValue(cause);
    const answer = await admin("GET", "/admin/monitor/status");
    const cut = { level: "warn", check: "r2", error: "Error: R2 is down", causes: ["no route"] };
    expect(logged()).toContainEqual(expect.objectContaining(cut));
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      checks: { "r2:responseTime": [{ status: "fail", output: "it does not answer" }] },
    });
    expect(text).not.toContain("no route");
  });
});

describe("GET /catalog/health", () => {
  it("answers 503 until something is published and then 200, whatever else is down", async () => {
    const before = await checkedFetch("/catalog/health");
    expect(before.status).toBe(503);
    expect(before.headers.get("content-type")).toBe("application/health+json");
    expect(await before.json()).toMatchObject({
      status: "fail",
      output: expect.stringMatching(
        /^catalog:present: nothing is published, .* restore the newest backup, also during a pause; .* and resume$/,
      ),
    });
    const store = createCatalogStore(env.CATALOG, env.ARCHIVE, A_CLAIM);
    const { manifest, blobs } = aVersion(1, "hello");
    for (const [sha256, bytes] of blobs) await store.writeBlob(sha256, bytes);
    await store.writeManifest(manifest);
    await expect.poll(async () => (await checkedFetch("/catalog/health")).status).toBe(200);
    const down = () => {
      throw new Error("down");
    };
    vi.spyOn(env.HISTORY, "prepare").mockImplementation(down);
    vi.spyOn(env.HISTORY, "batch").mockImplementation(down);
    vi.spyOn(env.COORDINATOR, "getByName").mockImplementation(down);
    expect((await admin("GET", "/admin/ingest/runs")).status).toBe(503);
    expect((await admin("GET", "/admin/catalog/versions")).status).toBe(503);
    const answer = await checkedFetch("/catalog/health");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: "pass", generation: 1 });
  });
});

describe("GET /credits", () => {
  it("returns the notice that the data's licences require", async () => {
    const answer = await checkedFetch("/credits");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    expect(text).toBe(notice);
    expect(answer.headers.get("vary")).toBe("accept");
    for (const source of ["OurAirports", "GeoNames", "CC BY 4.0", "OpenTravelData", "CLDR"])
      expect(text).toContain(source);
  });
});

describe("an unknown path", () => {
  it("gets 404 and a problem whose id is not taken from the request", async () => {
    const headers = { "x-request-id": "forged" };
    const answer = await checkedFetch("/no/such/path", { headers });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      status: 404,
      code: "not_found",
      detail: "There is nothing at /no/such/path.",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
});
