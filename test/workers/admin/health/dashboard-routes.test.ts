import { Hono } from "hono";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { dashboardRoutes, summarySection } from "../../../../src/admin/health/dashboard-routes.ts";
import type { Http } from "../../../../src/admin/http/http.ts";
import { addRoutes } from "../../../../src/admin/http/router.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { anAlertRun } from "../../../builders/alert-run.ts";
import { FakeAlerts } from "../../../builders/fake-alerts.ts";
import { aManifest } from "../../../builders/manifest.ts";
import { aRunRecord } from "../../../builders/run.ts";
import { storeGoodBackup } from "../../../builders/stored-backup.ts";
import { checkedFetch } from "../../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
  storeGoodBackup(world.backups, "019aa3c0-0000-7000-8000-0000000000f0");
  world.current = { ok: true, manifest: aManifest() };
  world.history.add(
    aRunRecord({
      state: "succeeded",
      outcome: "published",
      requested_by: "ops",
      note: "a private note",
      finished_at: "2026-11-01T04:20:00.000Z",
      duration_ms: 9_000,
    }).job,
  );
});

async function summary(): Promise<Json> {
  const answer = await world.send("/dashboard/summary");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/health+json");
  return answer.json();
}

describe("GET /dashboard/summary", () => {
  it("shows the catalog and the ingestion at a glance, to everybody", async () => {
    const { published_at, as_of, catalog_sha256, counts } = aManifest();
    expect(await summary()).toMatchObject({
      status: "pass",
      at: "2026-11-01T05:00:00.000Z",
      degraded: [],
      catalog: { generation: 1, published_at, as_of, catalog_sha256, counts, locales: 1 },
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
        webhooks: 1,
        alerts: [],
      },
    });
  });

  it("names no operator, no note and no reason", async () => {
    world.pause = { at: "2026-11-01T04:30:00.000Z", by: "ops", reason: "secret", until: null };
    world.running = aRunRecord({ state: "running", stage: "encode", note: "secret" }).job;
    const shown = await summary();
    expect(shown).toMatchObject({ ingest: { paused: true, running: { stage: "encode" } } });
    expect(JSON.stringify(shown)).not.toMatch(/ops|secret|private/);
  });

  it("shows the rest while D1 is down, and names what is missing", async () => {
    world.history.isDown = true;
    expect(await summary()).toMatchObject({
      status: "warn",
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
    expect(await summary()).toMatchObject({
      status: "fail",
      degraded: ["catalog"],
      ingest: { paused: false },
    });
  });

  it("shows the rest while a store hangs", async () => {
    world.reach = () => new Promise(() => {});
    vi.useFakeTimers();
    try {
      const asked = summary();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await asked).toMatchObject({ degraded: ["ingest"], catalog: { generation: 1 } });
    } finally {
      vi.useRealTimers();
    }
  });

  it("warns of a pause, a failed run, a missing backup, an alert, and alerts that nobody gets", async () => {
    const warns = async () => expect(await summary()).toMatchObject({ status: "warn" });
    world.pause = { at: "2026-11-01T04:30:00.000Z", by: "ops", reason: null, until: null };
    await warns();
    world.pause = null;
    world.backups.files.clear();
    await warns();
    storeGoodBackup(world.backups, "019aa3c0-0000-7000-8000-0000000000f0");
    const alerts = new FakeAlerts();
    alerts.current = { ...alerts.current, lastRun: anAlertRun({ worst: "fail", firing: 1 }) };
    world.alerts = alerts;
    await warns();
    const unheard = new FakeAlerts();
    unheard.current = { ...unheard.current, targets: [] };
    world.alerts = unheard;
    expect(await summary()).toMatchObject({ status: "warn", alerts: { webhooks: 0 } });
    world.alerts = new FakeAlerts();
    expect(await summary()).toMatchObject({ status: "pass" });
    world.history.add(
      aRunRecord({ id: "01a1fc3f-b811-706c-8d6d-9e5359a1ffff", state: "failed" }).job,
    );
    await warns();
  });

  it("is read once for all who ask at the same time", async () => {
    let reads = 0;
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const section = summarySection({
      schema: z.int(),
      unread: "warn",
      read: async () => {
        reads++;
        await opened;
        return { status: "pass", shown: reads };
      },
    });
    const [route] = dashboardRoutes({ section }, { now: () => world.time, waitUntil: () => {} });
    const app = new Hono<Http>();
    addRoutes(app, route === undefined ? [] : [route], {
      record: async () => {},
      now: () => world.time,
    });
    const ask = async () => (await app.request("/dashboard/summary")).json();
    const asked = [ask(), ask(), ask()];
    await vi.waitFor(() => expect(reads).toBe(1), { timeout: 120_000 });
    open();
    const answers = await Promise.all(asked);
    expect(answers.map((answer) => (answer as Json)["section"])).toEqual([1, 1, 1]);
    world.time += 5_000;
    expect(await ask()).toMatchObject({ section: 2 });
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
