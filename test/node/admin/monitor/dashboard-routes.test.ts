import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../builders/facts.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).makeHealthy());
let world: AdminWorld;

beforeEach(async () => {
  world = new AdminWorld(installation);
  await world.watch();
});

async function summary(): Promise<Json> {
  const answer = await world.send("/dashboard/summary");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  return answer.json();
}

describe("GET /dashboard/summary", () => {
  it("shows everybody the state of the service", async () => {
    const { published_at, as_of, catalog_sha256, counts } = world.ingest.current() ?? {};
    const [run] = world.ingest.coordinator.status().ended;
    const [backup] = world.ingest.coordinator.jobs(1);
    expect(await summary()).toMatchObject({
      status: "pass",
      at: new Date(world.ingest.time).toISOString(),
      degraded: [],
      catalog: { generation: 1, published_at, as_of, catalog_sha256, counts, locales: 1 },
      ingest: {
        paused: false,
        paused_at: null,
        queued: 0,
        running: null,
        last_success_at: run?.finished_at,
      },
      backups: { newest_at: backup?.finished_at, newest_verified_at: backup?.finished_at },
      alerts: { evaluated_at: world.monitor.at(), webhooks: 1, alerts: [] },
    });
  });

  it("says whether Cloudflare Access can sign operators in", async () => {
    expect(await summary()).toMatchObject({ access: false });
    const { credentials } = world;
    const access = { issuer: "https://team.cloudflareaccess.com", audience: "aud", operators: [] };
    world.credentials = { ...credentials, credentials: { ...credentials.credentials, access } };
    expect(await summary()).toMatchObject({ access: true });
  });

  it("has the same status as the monitor's status", async () => {
    const statuses = async () => {
      const { status } = await (await world.request("/admin/monitor/status")).json<Json>();
      return [(await summary())["status"], status];
    };
    expect(await statuses()).toEqual(["pass", "pass"]);
    await world.post("/admin/ingest/pause");
    expect(await statuses()).toEqual(["warn", "warn"]);
    world.ingest.time += 15 * MINUTE_MS;
    expect(await statuses()).toEqual(["fail", "fail"]);
  });

  it("names no operator, no note and no reason", async () => {
    await world.ingest.runToEnd({ note: "a secret" });
    await world.ingest.enqueue({ note: "a secret" });
    await world.ingest.alarm();
    await world.post("/admin/ingest/pause", { note: "a secret" });
    world.monitor.compared(31);
    const { started_at: since } = await world.monitor.evaluate();
    const shown = await summary();
    const stale = { rule: "catalog_stale", severity: "fail", state: "firing", since };
    expect(shown).toMatchObject({
      ingest: { paused: true, running: { stage: "fetch" } },
      status: "fail",
      alerts: { evaluated_at: since, alerts: [stale] },
    });
    expect(JSON.stringify(shown)).not.toMatch(/ops|secret/);
  });

  it.each([
    ["the coordinator", "coordinator", ["ingest"]],
    ["the monitor", "monitor", ["backups", "alerts"]],
  ])(
    "fails while %s is away, shows the rest and names the missing sections",
    async (_, object, degraded) => {
      world.breakCalls(object);
      const nothing = Object.fromEntries(degraded.map((section) => [section, null]));
      const catalog = { generation: 1 };
      expect(await summary()).toMatchObject({ status: "fail", degraded, ...nothing, catalog });
    },
  );

  it("reads no audit, of which the public sees nothing", async () => {
    world.d1.calls.length = 0;
    const answer = await world.newIsolate().request("/dashboard/summary");
    expect(await answer.json()).toMatchObject({ status: "pass" });
    expect(world.d1.calls).toEqual([]);
  });

  it("answers 200 even if nothing can be read", async () => {
    world.store.before = () => {
      throw new Error("down");
    };
    world.breakCalls("");
    expect(await summary()).toMatchObject({
      status: "fail",
      degraded: ["catalog", "ingest", "backups", "alerts"],
    });
  });

  it("shows no backups that the last evaluation could not read", async () => {
    world.monitor.before = (call) => {
      if (call === "backups") throw new Error("R2 is away");
    };
    await world.evaluate();
    expect(await summary()).toMatchObject({
      status: "warn",
      degraded: ["backups"],
      backups: null,
    });
  });

  it("reads once for simultaneous requests, and again after five seconds", async () => {
    let reads = 0;
    world.before = (call) => void (reads += Number(call === "monitor status"));
    const isolate = world.newIsolate();
    const ask = async () => (await isolate.request("/dashboard/summary")).text();
    const [first, ...others] = await Promise.all([ask(), ask(), ask()]);
    expect(others).toEqual([first, first]);
    world.ingest.time += 4_999;
    expect(await ask()).toBe(first);
    expect(reads).toBe(1);
    world.ingest.time += 1;
    expect(await ask()).not.toBe(first);
  });
});
