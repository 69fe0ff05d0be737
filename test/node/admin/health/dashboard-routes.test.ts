import { beforeEach, describe, expect, it, vi } from "vitest";
import { INGEST_CRON } from "../../../../src/schedule.ts";
import { anEnqueueRequest } from "../../../builders/run.ts";
import { HOUR_MS, MINUTE_MS } from "../../../builders/facts.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";

let world: AdminWorld;

beforeEach(async () => {
  world = new AdminWorld();
  await world.makeHealthy();
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
        last_run: {
          state: "succeeded",
          outcome: "published",
          trigger: "manual",
          finished_at: run?.finished_at,
          duration_ms: 0,
        },
        last_success_at: run?.finished_at,
      },
      backups: { status: "ok", newest_at: backup?.finished_at },
      alerts: {
        worst: "pass",
        evaluated_at: world.monitor.at(),
        firing: 0,
        nodata: 0,
        pending: 0,
        webhooks: 1,
        alerts: [],
      },
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
      alerts: { worst: "fail", evaluated_at: since, firing: 1, alerts: [stale] },
    });
    expect(JSON.stringify(shown)).not.toMatch(/ops|secret/);
  });

  it("shows the run that ended last, even if another one was cancelled in the meantime", async () => {
    const running = await world.ingest.runUpTo("build");
    const { run: later } = await world.ingest.enqueue({ mode: "full" });
    world.ingest.time += 1;
    await world.ingest.coordinator.cancel(later.id, { by: "ops", note: null });
    expect(await summary()).toMatchObject({ ingest: { last_run: { state: "cancelled" } } });
    world.ingest.time += 1;
    await world.ingest.drain();
    const { outcome, finished_at } = world.ingest.run(running.id);
    expect(await summary()).toMatchObject({
      ingest: { last_run: { state: "succeeded", outcome, finished_at } },
    });
  });

  it("shows the run that ended last, even if the clock was ahead before", async () => {
    const { time } = world.ingest;
    world.ingest.time = time + 365 * 24 * HOUR_MS;
    await world.ingest.runToEnd();
    world.ingest.time = time;
    world.ingest.before = (call) => {
      if (call === "upstream fetch") throw new Error("no connection");
    };
    await world.ingest.runToEnd();
    expect(await summary()).toMatchObject({ ingest: { last_run: { state: "failed" } } });
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

  it("stays complete without the history in D1", async () => {
    world.breakD1();
    expect(await summary()).toMatchObject({ degraded: [], ingest: { paused: false } });
  });

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

  it("shows the rest while a store hangs", async () => {
    world.before = async (call) => {
      if (call.startsWith("coordinator")) await new Promise(() => {});
    };
    vi.useFakeTimers();
    try {
      const asked = summary();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await asked).toMatchObject({ degraded: ["ingest"], catalog: { generation: 1 } });
    } finally {
      vi.useRealTimers();
    }
  });

  it.each<[string, () => unknown]>([
    ["a pause", () => world.post("/admin/ingest/pause")],
    ["alerts that nobody gets", () => world.monitor.restart({})],
    [
      "a failed run, once the rules have been evaluated",
      async () => {
        const fetch = () => Promise.reject(new Error("bug"));
        world.ingest.upstream = { ...world.ingest.upstream, fetch };
        await world.ingest.runToEnd();
        await world.evaluate();
      },
    ],
  ])("warns of %s", async (_, happen) => {
    expect(await summary()).toMatchObject({ status: "pass" });
    await happen();
    expect(await summary()).toMatchObject({ status: "warn" });
  });

  it("ignores skipped ticks when it shows the last run", async () => {
    await world.post("/admin/ingest/pause");
    const request = anEnqueueRequest({ trigger: "cron" });
    await world.ingest.coordinator.tick(INGEST_CRON, world.ingest.time, request);
    expect(world.ingest.coordinator.status().ended[0]).toMatchObject({ state: "skipped" });
    expect(await summary()).toMatchObject({ ingest: { last_run: { state: "succeeded" } } });
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
      alerts: { nodata: 2 },
    });
  });

  it.each<[string, () => void]>([
    ["no_backups", () => world.backups.files.clear()],
    ["stale", () => void (world.ingest.time += 26 * HOUR_MS)],
    ["ok", () => {}],
  ])("calls the backups %s if the last evaluation found them so", async (status, happen) => {
    happen();
    await world.evaluate();
    expect(await summary()).toMatchObject({ backups: { status } });
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
