import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { aManifest } from "../../../builders/manifest.ts";
import { aRunRecord } from "../../../builders/run.ts";
import { storeGoodBackup } from "../../../builders/stored-backup.ts";
import { checkedFetch } from "../../checked-fetch.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
  storeGoodBackup(world.backups, "019aa3c0-0000-7000-8000-0000000000f0");
  world.current = { ok: true, manifest: aManifest() };
  world.open = ({ manifest, locale, representation }) => {
    const entry = manifest.locales[locale];
    const body = entry?.bodies[representation].identity;
    if (entry === undefined || body === undefined) return { ok: false, reason: "data_loss" };
    const content = new Blob();
    return {
      ok: true,
      opened: { manifest, locale, entry, representation, coding: "identity", body, content },
    };
  };
  const at = "2026-11-01T04:20:00.000Z";
  world.history.add(
    aRunRecord({ state: "succeeded", outcome: "published", finished_at: at, duration_ms: 9 }).job,
  );
});

interface Status {
  readonly status: string;
  readonly output?: string;
  readonly checks: { readonly [name: string]: readonly object[] };
}

async function monitor(status = 200): Promise<Status> {
  const answer = await world.request("/admin/monitor/status");
  expect(answer.headers.get("content-type")).toBe("application/health+json");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.status).toBe(status);
  return answer.json();
}

describe("GET /admin/monitor/status", () => {
  it("passes while everything is as it should be, and shows each thing it looked at", async () => {
    const { status, output, checks } = await monitor();
    expect({ status, output }).toEqual({ status: "pass", output: undefined });
    const own = [
      "alerts:evaluation",
      "alerts:firing",
      "alerts:outbox",
      "alerts:responseTime",
      "alerts:settings",
      "alerts:webhooks",
      "backup:age",
      "backup:responseTime",
      "backup:status",
      "backup:verifiedAge",
      "catalog:age",
      "catalog:counts",
      "catalog:integrity",
      "catalog:locales",
      "catalog:present",
      "catalog:responseTime",
      "coordinator:responseTime",
      "cron:ticks",
      "d1:responseTime",
      "data:age",
      "ingest:lastRun",
      "ingest:lastSuccess",
      "ingest:lease",
      "ingest:outbox",
      "ingest:paused",
      "ingest:queue",
      "ingest:replication",
      "ingest:responseTime",
      "ingest:running",
      "kv:responseTime",
      "r2:responseTime",
    ];
    expect(Object.keys(checks)).toEqual(expect.arrayContaining(own));
    expect(checks["ingest:lastRun"]).toEqual([
      { status: "pass", observedValue: "succeeded published", time: "2026-11-01T04:20:00.000Z" },
    ]);
    expect(checks["ingest:lastSuccess"]).toMatchObject([{ observedValue: 2400 }]);
    expect(checks["kv:responseTime"]).toEqual([
      { status: "pass", observedValue: 0, observedUnit: "ms" },
    ]);
  });

  it.each(["kv", "d1", "r2"] as const)("fails while %s refuses", async (name) => {
    world.probes = { ...world.probes, [name]: async () => Promise.reject(new Error("down")) };
    const { status, output } = await monitor(503);
    expect({ status, output }).toEqual({
      status: "fail",
      output: `${name}:responseTime: it does not answer`,
    });
  });

  it("does not wait for ever for a store that hangs, and looks at the others all the same", async () => {
    vi.useFakeTimers();
    try {
      world.probes = { ...world.probes, kv: () => new Promise(() => {}) };
      const asked = monitor(503);
      await vi.advanceTimersByTimeAsync(1_000);
      const { output, checks } = await asked;
      expect(output).toBe("kv:responseTime: no answer within 1000 ms");
      expect(checks["r2:responseTime"]).toMatchObject([{ status: "pass" }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("fails while the coordinator is away, and still shows the rest", async () => {
    world.isReachable = false;
    const { status, checks } = await monitor(503);
    expect(status).toBe("fail");
    expect(checks["coordinator:responseTime"]).toMatchObject([{ status: "fail" }]);
    expect(checks["ingest:lastRun"]).toMatchObject([{ status: "pass" }]);
    expect(checks["catalog:present"]).toMatchObject([{ status: "pass" }]);
  });

  it("only warns while a step keeps the coordinator busy", async () => {
    vi.useFakeTimers();
    try {
      world.reach = () => new Promise(() => {});
      const asked = monitor();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await asked).toMatchObject({
        status: "warn",
        output:
          "coordinator:responseTime: no answer in time; a step of a run may be keeping it busy",
        checks: { "ingest:lastRun": [{ status: "pass" }] },
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it("only warns while there is no backup", async () => {
    world.backups.files.clear();
    const { status, checks } = await monitor();
    expect(status).toBe("warn");
    expect(checks["backup:status"]).toMatchObject([{ status: "warn" }]);
    expect(checks["backup:age"]).toEqual([{ status: "warn", output: "none" }]);
  });

  it("fails while the catalog cannot be served", async () => {
    world.current = { ok: false, reason: "nothing_published" };
    expect(await monitor(503)).toMatchObject({
      output: "catalog:present: nothing is published yet; queue an ingest",
    });
  });

  it("only warns of a pause, and says whose it is", async () => {
    world.pause = { at: "2026-11-01T04:30:00.000Z", by: "ops", reason: "bad data", until: null };
    expect(await monitor()).toMatchObject({
      status: "warn",
      output: "ingest:paused: paused by ops: bad data",
      checks: { "ingest:paused": [{ time: "2026-11-01T04:30:00.000Z", observedValue: true }] },
    });
  });

  it("is judged by the settings of the alerts: raised, and the status follows", async () => {
    const heartbeat_at = new Date(world.time - 600_000).toISOString();
    world.running = aRunRecord({ state: "running", stage: "encode", heartbeat_at }).job;
    world.status = { outboxLength: 6 };
    expect((await monitor(503)).output).toContain("ingest:outbox: 6 rows wait for D1.");
    world.limitSettings = { ALERT_INGEST_STUCK_MS: "600001", ALERT_OUTBOX_BACKLOG_ROWS: "7" };
    expect((await monitor()).status).toBe("pass");
    world.limitSettings = { ALERT_CATALOG_STALE_MS: "60000", ALERT_BACKUP_STALE_MS: "60000" };
    world.running = null;
    const { status, output } = await monitor();
    expect(status).toBe("warn");
    expect(output).toContain("ingest:lastSuccess: The catalog was last compared");
    expect(output).toContain("backup:status: the newest backup is too old");
  });

  it("refuses parameters", async () => {
    const answer = await world.request("/admin/monitor/status?verbose");
    expect(answer.status).toBe(400);
  });
});

describe("the Worker's monitor", () => {
  it("asks its real stores, and its coordinator", async () => {
    const answer = await checkedFetch("/admin/monitor/status", {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect(await answer.json()).toMatchObject({
      status: "fail",
      output: expect.stringContaining("catalog:present: nothing is published yet"),
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

  it("says which store is down", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    const cause = new Error("R2 is down", { cause: "no route" });
    const head = vi.spyOn(env.ARCHIVE, "head").mockRejectedValue(cause);
    const answer = await checkedFetch("/admin/monitor/status", {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    head.mockRestore();
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
    log.mockRestore();
    expect(lines.filter(({ event }) => event === "check_failed")).toMatchObject([
      { level: "warn", check: "r2", error: "Error: R2 is down", causes: ["no route"] },
    ]);
    expect(await answer.json()).toMatchObject({
      checks: { "r2:responseTime": [{ status: "fail", output: "it does not answer" }] },
    });
  });
});
