import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withoutInactive } from "../../../../src/schemas/alert-run.ts";
import { READER_TOKEN } from "../../../builders/admin-tokens.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { status, WebhookReceiver } from "../../../builders/webhook-receiver.ts";

let receiver: WebhookReceiver;
let world: AdminWorld;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
});
beforeEach(() => {
  world = new AdminWorld();
  world.monitor.restart(receiver.settingsFor("ops", "chat"));
  receiver.answers = [status(200)];
  receiver.received.length = 0;
});
afterAll(async () => receiver.goAway());

const asReader = { headers: { authorization: `Bearer ${READER_TOKEN}` } };
const list = async (query = "") => (await world.request(`/admin/alerts/runs${query}`)).json();

/** Lets an alert fire at the next evaluation. */
const goStale = () => world.monitor.compared(31);

describe("GET /admin/alerts/runs", () => {
  it("returns evaluations with results, evidence and receipts, to readers as well", async () => {
    goStale();
    const run = await world.monitor.tick();
    const answer = await world.request("/admin/alerts/runs", asReader);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      next_cursor: null,
      total: 1,
      waiting: 0,
      runs: [{ ...withoutInactive(run), worst: "fail", fired: 1, notified: 2, changed: true }],
    });
    expect(run.results).toContainEqual(
      expect.objectContaining({
        rule: "catalog_stale",
        state: "firing",
        evidence: expect.objectContaining({ generation: 7 }),
        notified: [
          { target: "ops", change: "fired", delivered: true },
          { target: "chat", change: "fired", delivered: true },
        ],
      }),
    );
  });

  it("applies every filter", async () => {
    const quiet = await world.monitor.tick();
    goStale();
    const loud = await world.monitor.tick();
    const both = [{ id: loud.id }, { id: quiet.id }];
    const at = loud.started_at;
    for (const [query, runs] of [
      ["", both],
      ["limit=1", [both[0]]],
      ["state=firing", [both[0]]],
      ["worst=pass", [both[1]]],
      ["rule=catalog_stale", [both[0]]],
      ["rule=data_old", []],
      ["changed=false", [both[1]]],
      [`since=${at}`, [both[0]]],
      [`until=${at.replace("Z", "%2B00:00")}`, [both[1]]],
    ] as const)
      expect(await list(`?${query}`), query).toMatchObject({ runs });
  });

  it("answers without the monitor, and leaves the number of waiting evaluations unknown", async () => {
    await world.monitor.tick();
    world.breakCalls("monitor");
    expect(await list()).toMatchObject({ waiting: null, total: 1 });
  });

  it("counts what waits for D1, and answers 503 while D1 does not answer", async () => {
    world.monitor.before = (call) => {
      if (call === "d1 save") throw new Error("D1_ERROR: down");
    };
    await world.monitor.tick();
    expect(await list()).toMatchObject({ runs: [], waiting: 1 });
    world.breakD1();
    expect(await list()).toMatchObject({ status: 503, code: "history_unavailable" });
  });
});

describe("GET /admin/alerts", () => {
  const current = async (query = "") =>
    (await world.request(`/admin/alerts${query}`)).json<{ alerts: readonly object[] }>();

  it("lists the firing alerts, and others by their state", async () => {
    expect(await current()).toEqual({ evaluated_at: null, run_id: null, alerts: [] });
    goStale();
    const run = await world.monitor.tick();
    const stale = { rule: "catalog_stale", state: "firing" };
    const head = { evaluated_at: run.started_at, run_id: run.id };
    expect(await current()).toMatchObject({ ...head, alerts: [stale] });
    expect(await current("?state=pending")).toMatchObject({ alerts: [] });
    const { alerts } = await current("?state=inactive");
    expect(alerts).toHaveLength(run.results.length - 1);
  });
});

describe("GET /admin/alerts/runs/{id}", () => {
  it("shows the last evaluation even while D1 is away, and earlier ones from D1", async () => {
    const first = await world.monitor.tick();
    const last = await world.monitor.tick();
    const one = async (id: string) => (await world.request(`/admin/alerts/runs/${id}`)).json();
    expect(await one(first.id)).toEqual(withoutInactive(first));
    world.breakD1();
    expect(await one(last.id)).toEqual(withoutInactive(last));
    expect(await one(first.id)).toMatchObject({ status: 503, code: "history_unavailable" });
  });
});

describe("POST /admin/alerts/run", () => {
  const evaluate = () => world.post("/admin/alerts/run");

  it("evaluates the rules, returns the findings and is audited", async () => {
    goStale();
    const answer = await evaluate();
    expect(answer.status).toBe(200);
    const { lastRun } = world.monitor.monitor.status();
    expect(await answer.json()).toEqual({
      changed: true,
      run: lastRun && withoutInactive(lastRun),
      message: expect.stringContaining("1 firing"),
    });
    expect(lastRun).toMatchObject({ trigger: "manual", requested_by: "ops", worst: "fail" });
    expect(world.audited).toMatchObject([
      {
        action: "alerts.run",
        actor: "ops",
        outcome: "done",
        target: lastRun?.id,
        after: { worst: "fail", firing: 1 },
      },
    ]);
  });

  it("says that the effect is unknown while the monitor does not answer, and the audit says so too", async () => {
    const made: string[] = [];
    world.before = (call) => {
      made.push(call);
      throw new Error("the monitor is away");
    };
    const answer = await evaluate();
    // A second evaluation might notify twice.
    expect(made).toEqual(["monitor evaluate"]);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("10");
    expect(await answer.json()).toMatchObject({ code: "alerts_unavailable" });
    expect(world.audited).toMatchObject([{ action: "alerts.run", outcome: "failed" }]);
  });
});

describe("POST /admin/alerts/test", () => {
  const test = (body: object) => world.post("/admin/alerts/test", body);

  it("sends an alert that ends", async () => {
    world.monitor.restart(receiver.settingsFor("ops"));
    const answer = await test({});
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ changed: true, message: "ops: delivered." });
    expect(receiver.bodies.map((body) => body["status"])).toEqual(["firing", "resolved"]);
    // It measures nothing.
    const annotations = {
      summary: expect.any(String),
      description: expect.any(String),
      evidence: "{}",
    };
    expect(receiver.bodies.map((body) => body["commonAnnotations"])).toEqual([
      { ...annotations, change: "fired" },
      { ...annotations, change: "resolved" },
    ]);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(2);
  });

  it("sends to all webhooks, and returns receipts even for messages that did not arrive", async () => {
    receiver.answers = [status(403), status(200)];
    const answer = await test({});
    expect(answer.status).toBe(200);
    const { receipts } = await answer.json<{ receipts: { delivered: boolean }[] }>();
    const [failed, sent] = receipts.toSorted((a, b) => Number(a.delivered) - Number(b.delivered));
    expect([failed, sent]).toMatchObject([
      { delivered: false, status: 403 },
      { delivered: true, status: 200 },
    ]);
    expect(world.audited).toMatchObject([
      { action: "alerts.test", outcome: "done", after: { messages: 2, delivered: 1 } },
    ]);
  });

  it("is refused without a webhook", async () => {
    world.monitor.restart(receiver.settingsFor());
    const answer = await test({});
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({
      detail: expect.stringContaining("ALERT_WEBHOOKS"),
    });
  });
});
