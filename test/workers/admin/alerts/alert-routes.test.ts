import { beforeEach, describe, expect, it } from "vitest";
import { alertCalls, MonitorUnavailable } from "../../../../src/admin/calls/alert-calls.ts";
import type { AlertRun } from "../../../../src/alerts/alert-run.ts";
import type { AlertRunQuery, SavedAlertRun } from "../../../../src/storage/alert-history.ts";
import { READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { anAlertResult, anAlertRun } from "../../../builders/alert-run.ts";
import { FakeAlerts } from "../../../builders/fake-alerts.ts";

let world: AdminWorld;
let alerts: FakeAlerts;
/** What the history was asked for. */
let queries: AlertRunQuery[];

const firing = anAlertRun({
  worst: "fail",
  firing: 1,
  fired: 1,
  notified: 1,
  changed: true,
  results: [
    anAlertResult({
      state: "firing",
      evidence: { generation: 7, published_at: "2026-11-01T04:00:00.000Z" },
      notified: [{ target: "ops", change: "fired", delivered: true }],
    }),
  ],
  deliveries: [
    {
      target: "ops",
      delivered: true,
      attempts: 2,
      status: 200,
      error: null,
      at: "2026-11-01T04:58:00.000Z",
      duration_ms: 812,
    },
  ],
});

/** A row as D1 gives it. */
const row = (run: AlertRun): SavedAlertRun => JSON.parse(JSON.stringify(run));

beforeEach(() => {
  world = new AdminWorld();
  alerts = new FakeAlerts();
  world.alerts = alerts;
  queries = [];
  world.listAlertRuns = async (query) => {
    queries.push(query);
    return { ok: true, runs: [row(firing)], nextCursor: "next", total: 7 };
  };
});

const asReader = { headers: { authorization: `Bearer ${READER_TOKEN}` } };

describe("GET /admin/alerts/runs", () => {
  it("gives evaluations with results, evidence and receipts, to readers too", async () => {
    alerts.current = { ...alerts.current, outboxLength: 2 };
    const answer = await world.request("/admin/alerts/runs", asReader);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      next_cursor: "next",
      total: 7,
      waiting: 2,
      runs: [
        {
          id: firing.id,
          trigger: "cron",
          requested_by: "cron",
          worst: "fail",
          rules_total: 1,
          notify_failed: 0,
          changed: true,
          results: [
            {
              rule: "catalog_stale",
              state: "firing",
              previous_state: "inactive",
              evidence: { generation: 7, published_at: "2026-11-01T04:00:00.000Z" },
              notified: [{ target: "ops", change: "fired", delivered: true }],
            },
          ],
          deliveries: [{ target: "ops", attempts: 2, status: 200, duration_ms: 812 }],
        },
      ],
    });
    expect(queries).toEqual([{ limit: 50, sinceMs: undefined, untilMs: undefined }]);
  });

  it("passes every filter on", async () => {
    await world.request(
      "/admin/alerts/runs?state=firing&worst=fail&rule=catalog_stale&changed=false&since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00%2B01:00&limit=3&cursor=abc",
    );
    expect(queries).toEqual([
      {
        state: "firing",
        worst: "fail",
        rule: "catalog_stale",
        changed: false,
        sinceMs: Date.UTC(2026, 10, 1),
        untilMs: Date.UTC(2026, 10, 1, 23),
        limit: 3,
        cursor: "abc",
      },
    ]);
  });

  it.each([
    "state=inactive",
    "state=on",
    "worst=bad",
    "rule=disk_full",
    "changed=1",
    "since=today",
    "limit=0",
    "limit=201",
    "sort=asc",
  ])("refuses ?%s and names it", async (query) => {
    const answer = await world.request(`/admin/alerts/runs?${query}`);
    expect(answer.status).toBe(400);
    const { code, detail } = await answer.json<{ code: string; detail: string }>();
    expect(code).toBe("invalid_query");
    expect(detail).toContain(query.split("=")[0]);
    expect(queries).toEqual([]);
  });

  it("refuses a cursor that it has not given", async () => {
    world.listAlertRuns = async () => ({ ok: false, reason: "bad_cursor" });
    const answer = await world.request("/admin/alerts/runs?cursor=x");
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_query" });
  });

  it("answers without the monitor, and says that it does not know what waits", async () => {
    alerts.fault = new MonitorUnavailable();
    const answer = await world.request("/admin/alerts/runs");
    expect(await answer.json()).toMatchObject({ waiting: null, total: 7 });
  });

  it("is 503 while D1 does not answer", async () => {
    world.listAlertRuns = () => Promise.reject(new Error("D1_ERROR: down"));
    const answer = await world.request("/admin/alerts/runs");
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: "history_unavailable" });
  });
});

describe("POST /admin/alerts/run", () => {
  it("evaluates, gives what was found, and is audited", async () => {
    alerts.evaluation = { ok: true, run: { ...firing, trigger: "manual" } };
    const answer = await world.post("/admin/alerts/run");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ run: { id: firing.id, worst: "fail" } });
    expect(alerts.asked).toEqual([{ trigger: "manual", requested_by: "ops", tick: null }]);
    expect(world.audited).toMatchObject([
      {
        action: "alerts.run",
        actor: "ops",
        outcome: "done",
        target: firing.id,
        after: { worst: "fail", firing: 1 },
      },
    ]);
  });

  it("is for operators only", async () => {
    const answer = await world.request("/admin/alerts/run", { method: "POST", ...asReader });
    expect(answer.status).toBe(403);
    expect(alerts.asked).toEqual([]);
  });

  it("says what is wrong with the settings", async () => {
    const problem = "ALERT_REPEAT_MS must be a whole number, 60000 to 604800000";
    alerts.evaluation = { ok: false, reason: "misconfigured", problem };
    const answer = await world.post("/admin/alerts/run");
    expect(answer.status).toBe(503);
    const { code, detail } = await answer.json<{ code: string; detail: string }>();
    expect(code).toBe("alerts_misconfigured");
    expect(detail).toContain(problem);
  });

  it("says that nobody knows while the monitor does not answer, in the audit too", async () => {
    alerts.fault = new MonitorUnavailable();
    const answer = await world.post("/admin/alerts/run");
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("10");
    expect(await answer.json()).toMatchObject({ code: "alerts_unavailable" });
    expect(world.audited).toMatchObject([{ action: "alerts.run", outcome: "failed" }]);
  });

  it("takes GET for a mistake", async () => {
    const answer = await world.request("/admin/alerts/run");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("POST /admin/alerts/test", () => {
  it("sends to all webhooks, and gives receipts also of what did not arrive", async () => {
    const [sent] = firing.deliveries;
    const receipts =
      sent === undefined ? [] : [sent, { ...sent, target: "chat", delivered: false, status: 403 }];
    alerts.testResult = { ok: true, receipts };
    const answer = await world.post("/admin/alerts/test", {});
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      receipts: [
        { target: "ops", delivered: true },
        { target: "chat", delivered: false, status: 403 },
      ],
    });
    expect(alerts.tested).toEqual([{ target: null, by: "ops" }]);
    expect(world.audited).toMatchObject([
      { action: "alerts.test", outcome: "done", after: { messages: 2, delivered: 1 } },
    ]);
  });

  it("sends to one", async () => {
    await world.post("/admin/alerts/test", { target: "chat" });
    expect(alerts.tested).toEqual([{ target: "chat", by: "ops" }]);
  });

  it.each([
    [{ target: "ogs" }, { reason: "unknown_target", targets: ["ops", "chat"] }, 404, "ops, chat"],
    [{}, { reason: "no_targets", targets: [] }, 409, "ALERT_WEBHOOKS"],
    [{ target: "ops" }, { reason: "unknown_target", targets: [] }, 409, "ALERT_WEBHOOKS"],
  ] as const)("says of %j what there is: %j", async (body, refused, status, hint) => {
    alerts.testResult = { ok: false, ...refused };
    const answer = await world.post("/admin/alerts/test", body);
    expect(answer.status).toBe(status);
    expect((await answer.json<{ detail: string }>()).detail).toContain(hint);
  });

  it("names a field that it does not know", async () => {
    const answer = await world.post("/admin/alerts/test", { targets: "ops" });
    expect(answer.status).toBe(400);
    expect((await answer.json<{ detail: string }>()).detail).toContain("targets");
    expect(alerts.tested).toEqual([]);
  });
});

describe("the alerts in GET /dashboard/summary", () => {
  const summary = async () => (await world.request("/dashboard/summary")).json();

  it("are what is not inactive, without messages, labels and evidence", async () => {
    alerts.current = { ...alerts.current, lastRun: firing };
    expect(await summary()).toMatchObject({
      alerts: {
        worst: "fail",
        evaluated_at: firing.started_at,
        firing: 1,
        nodata: 0,
        pending: 0,
        webhooks: 1,
        alerts: [
          {
            rule: "catalog_stale",
            severity: "fail",
            state: "firing",
            since: "2026-11-20T11:00:00.000Z",
            suppressed: false,
          },
        ],
      },
    });
    expect(JSON.stringify(await summary())).not.toContain("compared with upstream");
  });

  it("are null for nothing evaluated yet, and degraded without the monitor", async () => {
    alerts.current = { ...alerts.current, lastRun: null };
    expect(await summary()).toMatchObject({ alerts: { worst: null, evaluated_at: null } });
    world.time += 60_000;
    const unreachable = new AdminWorld();
    alerts.fault = new MonitorUnavailable();
    unreachable.alerts = alerts;
    const degraded = await (await unreachable.request("/dashboard/summary")).json();
    expect(degraded).toMatchObject({ alerts: null, degraded: expect.arrayContaining(["alerts"]) });
  });
});

describe("a call to the monitor", () => {
  it("that fails is MonitorUnavailable; a status is asked for twice, an evaluation is not", async () => {
    const broken = new FakeAlerts();
    broken.fault = new Error("Durable Object reset");
    const stubs: FakeAlerts[] = [];
    const calls = alertCalls(() => {
      stubs.push(broken);
      return broken;
    });
    await expect(calls.status()).rejects.toThrow(MonitorUnavailable);
    expect(stubs).toHaveLength(2);
    const asked = { trigger: "manual", requested_by: "ops", tick: null } as const;
    await expect(calls.evaluate(asked)).rejects.toThrow(MonitorUnavailable);
    await expect(calls.test(null, "ops")).rejects.toThrow(MonitorUnavailable);
    expect(stubs).toHaveLength(4);
  });
});
