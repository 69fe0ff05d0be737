import { beforeEach, describe, expect, it } from "vitest";
import { AdminWorld, type Json } from "../../builders/admin-world.ts";
import { aManifest } from "../../builders/manifest.ts";
import { aRunRecord } from "../../builders/run.ts";
import { storeGoodBackup } from "../../builders/stored-backup.ts";
import { checkedFetch } from "../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
  storeGoodBackup(world.backups, "019aa3c0-0000-7000-8000-0000000000f0");
  world.current = { ok: true, manifest: aManifest() };
  world.history.add(
    aRunRecord({
      state: "succeeded",
      outcome: "published",
      requestedBy: "ops",
      note: "a private note",
      finishedAt: "2026-11-01T04:20:00.000Z",
      durationMs: 9_000,
    }).run,
  );
});

async function summary(): Promise<Json> {
  const answer = await world.send("/dashboard/summary");
  expect(answer.status).toBe(200);
  return answer.json();
}

describe("GET /dashboard/summary", () => {
  it("shows the catalog and the ingestion at a glance, to everybody", async () => {
    const { published_at, catalog_sha256, counts } = aManifest();
    expect(await summary()).toMatchObject({
      at: "2026-11-01T05:00:00.000Z",
      degraded: [],
      catalog: { generation: 1, published_at, catalog_sha256, counts, locales: 1 },
      ingest: {
        paused: false,
        paused_at: null,
        queued: 0,
        running: null,
        last_run: {
          state: "succeeded",
          outcome: "published",
          trigger: "manual",
          finished_at: "2026-11-01T04:20:00.000Z",
          duration_ms: 9_000,
        },
        last_success_at: "2026-11-01T04:20:00.000Z",
      },
      backups: {
        status: "ok",
        newest_at: "2026-11-01T04:00:05.000Z",
        newest_verified_at: "2026-11-01T04:00:05.000Z",
      },
      alerts: {
        worst: "pass",
        evaluated_at: "2026-11-01T04:58:00.000Z",
        firing: 0,
        nodata: 0,
        pending: 0,
        alerts: [],
      },
    });
  });

  it("names no operator, no note and no reason", async () => {
    world.pause = { at: "2026-11-01T04:30:00.000Z", by: "ops", reason: "secret", until: null };
    world.running = aRunRecord({ state: "running", stage: "encode", note: "secret" }).run;
    const shown = await summary();
    expect(shown).toMatchObject({ ingest: { paused: true, running: { stage: "encode" } } });
    expect(JSON.stringify(shown)).not.toMatch(/ops|secret|private/);
  });

  it("shows the rest while D1 is down, and names what is missing", async () => {
    world.history.isDown = true;
    expect(await summary()).toMatchObject({
      degraded: ["ingest"],
      ingest: null,
      catalog: { generation: 1 },
    });
  });

  it("shows the rest while the coordinator is away", async () => {
    world.isReachable = false;
    expect(await summary()).toMatchObject({ degraded: ["ingest"], catalog: { generation: 1 } });
  });

  it("shows the rest while the catalog cannot be read", async () => {
    world.current = { ok: false, reason: "unavailable" };
    expect(await summary()).toMatchObject({ degraded: ["catalog"], ingest: { paused: false } });
  });

  it("is still 200 when nothing can be read", async () => {
    world.current = { ok: false, reason: "unavailable" };
    world.history.isDown = true;
    expect(await summary()).toMatchObject({ degraded: ["catalog", "ingest"] });
  });

  it("refuses parameters", async () => {
    expect((await world.send("/dashboard/summary?x=1")).status).toBe(400);
  });
});

describe("the Worker's summary", () => {
  it("is read from its stores, and then given again for some seconds", async () => {
    const ask = () => checkedFetch("/dashboard/summary");
    const first = await ask();
    expect(first.headers.get("cache-control")).toBe("public, max-age=5");
    const text = await first.text();
    expect(JSON.parse(text)).toMatchObject({ ingest: { paused: false, last_run: null } });
    expect(await (await ask()).text()).toBe(text);
  });
});
