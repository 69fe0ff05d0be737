import { beforeEach, describe, expect, it, vi } from "vitest";
import { AdminWorld } from "../../../builders/admin-world.ts";

let world: AdminWorld;

/** An installation that has published, backed up and evaluated, an hour ago at the most. */
beforeEach(async () => {
  world = new AdminWorld();
  await world.makeHealthy();
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

/** The status once so many milliseconds have passed since it was asked for. */
async function monitorAfter(ms: number, status: number): Promise<Status> {
  vi.useFakeTimers();
  try {
    const asked = monitor(status);
    await vi.advanceTimersByTimeAsync(ms);
    return await asked;
  } finally {
    vi.useRealTimers();
  }
}

describe("GET /admin/monitor/status", () => {
  it("passes while everything is as it should be, and shows each thing it looked at", async () => {
    const { status, output, checks } = await monitor();
    expect({ status, output }).toEqual({ status: "pass", output: undefined });
    const names = "alerts backup catalog coordinator cron d1 data ingest kv r2 tokens";
    const components = Object.keys(checks).map((name) => name.split(":")[0]);
    expect(new Set(components)).toEqual(new Set(names.split(" ")));
    expect(checks["ingest:lastRun"]).toMatchObject([
      { status: "pass", observedValue: "succeeded published" },
    ]);
    expect(checks["kv:responseTime"]).toEqual([
      { status: "pass", observedValue: 0, observedUnit: "ms" },
    ]);
  });

  it("warns before a token expires", async () => {
    if (!world.credentials.ok) throw new Error("no credentials");
    const { tokens } = world.credentials.credentials;
    const expiresAt = world.ingest.time + 3 * 86_400_000;
    const ending = tokens.map((token) => ({ ...token, expiresAt }));
    world.credentials = { ok: true, credentials: { tokens: ending.slice(0, 1), access: null } };
    expect(await monitor()).toMatchObject({
      status: "warn",
      output: 'tokens:expiry: The admin token "ops" expires in 3 d.',
    });
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
    world.probes = { ...world.probes, kv: () => new Promise(() => {}) };
    const { output, checks } = await monitorAfter(1_000, 503);
    expect(output).toBe("kv:responseTime: no answer within 1000 ms");
    expect(checks["r2:responseTime"]).toMatchObject([{ status: "pass" }]);
  });

  it("fails while the coordinator is away, and still shows the rest", async () => {
    world.breakCalls("coordinator");
    expect(await monitor(503)).toMatchObject({
      status: "fail",
      checks: {
        "coordinator:responseTime": [{ status: "fail" }],
        "ingest:lastRun": [{ status: "pass" }],
        "catalog:present": [{ status: "pass" }],
      },
    });
  });

  it("only warns while a step keeps the coordinator busy", async () => {
    world.before = async (call) => {
      if (call.startsWith("coordinator")) await new Promise(() => {});
    };
    expect(await monitorAfter(2_000, 200)).toMatchObject({
      status: "warn",
      output: "coordinator:responseTime: no answer in time; a step of a run may be keeping it busy",
      checks: { "ingest:lastRun": [{ status: "pass" }] },
    });
  });

  it("only warns while there is no backup", async () => {
    world.backups.files.clear();
    expect(await monitor()).toMatchObject({
      status: "warn",
      checks: {
        "backup:status": [{ status: "warn" }],
        "backup:age": [{ status: "warn", output: "none" }],
      },
    });
  });

  it("is judged by the settings of the alerts: raised, and the status follows", async () => {
    for (let runs = 0; runs < 3; runs++) {
      const { run } = await world.ingest.enqueue();
      await world.ingest.coordinator.cancel(run.id, { by: "ops", note: null });
    }
    expect((await monitor()).output).toContain("ingest:outbox: 6 rows wait for D1.");
    world.limitSettings = { ALERT_OUTBOX_BACKLOG_ROWS: "7" };
    expect((await monitor()).status).toBe("pass");
    const stuck = await world.ingest.runUpTo("build");
    world.ingest.time += 600_000;
    expect((await monitor(503)).output).toContain("ingest:running: ");
    world.limitSettings = { ALERT_INGEST_STUCK_MS: "600001" };
    expect((await monitor()).status).toBe("pass");
    await world.ingest.coordinator.cancel(stuck.id, { by: "ops", note: null });
    world.limitSettings = { ALERT_CATALOG_STALE_MS: "60000", ALERT_BACKUP_STALE_MS: "60000" };
    const { status, output: said } = await monitor();
    expect(status).toBe("warn");
    expect(said).toContain("ingest:lastSuccess: The catalog was last compared");
    expect(said).toContain("backup:status: the newest backup is too old");
  });
});
