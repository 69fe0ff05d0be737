import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withoutInactive } from "../../../src/schemas/alert-run.ts";
import { MonitorState } from "../../../src/monitor/monitor-state.ts";
import { RULE_NAMES } from "../../../src/schemas/rule-names.ts";
import { blobKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { aVersion, partsOf } from "../../builders/manifest.ts";
import { HOUR_MS, MINUTE_MS, NOW } from "../../builders/facts.ts";
import { MonitorWorld, resultOf } from "../../builders/monitor-world.ts";
import { reset, status, WEBHOOK_SECRET, WebhookReceiver } from "../../builders/webhook-receiver.ts";

const EVALUATION_MS = 5 * MINUTE_MS;

let receiver: WebhookReceiver;
let world: MonitorWorld;

/** What has arrived, as `status alertname alertname …`. */
function arrived(path = ""): string[] {
  return receiver.received
    .filter((message) => message.path.endsWith(path))
    .map(({ body }) => {
      const { status: state, alerts } = JSON.parse(body) as {
        status: string;
        alerts: { labels: { alertname: string } }[];
      };
      return [state, ...alerts.map(({ labels }) => labels.alertname)].join(" ");
    });
}

/** The ids of the messages about a rule, each with the start of its alert. */
function messagesOf(rule: string) {
  return receiver.received
    .filter(({ body }) => body.includes(rule))
    .map(({ headers, body }) => [headers["webhook-id"], /"startsAt":"(.*?)"/.exec(body)?.[1]]);
}

/** What has arrived about a rule, as `status severity`. */
function labelled(rule: string): string[] {
  return receiver.received.flatMap(({ body }) => {
    const { alerts } = JSON.parse(body) as {
      alerts: { status: string; labels: { alertname: string; severity: string } }[];
    };
    return alerts
      .filter(({ labels }) => labels.alertname === rule)
      .map(({ status: state, labels }) => `${state} ${labels.severity}`);
  });
}

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  world = new MonitorWorld(receiver.settingsFor("ops"));
});

afterEach(async () => {
  await receiver.goAway();
});

describe("an evaluation of a healthy service", () => {
  it("notifies nobody and records a pass", async () => {
    const run = await world.tick();
    expect(run).toMatchObject({
      trigger: "cron",
      requested_by: "cron",
      worst: "pass",
      rules_total: RULE_NAMES.length,
      pending: 0,
      firing: 0,
      fired: 0,
      resolved: 0,
      nodata: 0,
      suppressed: 0,
      notified: 0,
      notify_failed: 0,
      changed: false,
      deliveries: [],
      ping: "not_configured",
      worker_version: "v1",
    });
    expect(run.results.length).toBeGreaterThanOrEqual(RULE_NAMES.length - 2);
    expect(receiver.received).toEqual([]);
  });

  it("leaves a row without the alerts that are inactive, of less than 1 kB", async () => {
    const { id } = await world.tick();
    expect(world.rows.get(id)).toMatchObject({ rules_total: RULE_NAMES.length, results: [] });
    expect(JSON.stringify(world.rows.get(id)).length).toBeLessThan(1_000);
  });

  it("logs each stage with the evaluation's id", async () => {
    const { id } = await world.tick();
    expect(world.logged.map(({ event }) => event)).toEqual([
      "alerts_started",
      "alerts_facts_read",
      "alerts_ended",
    ]);
    for (const { fields } of world.logged) expect(fields).toMatchObject({ alert_run_id: id });
  });
});

describe("an evaluation that hangs", () => {
  it.each([
    ["after five minutes", 5],
    ["once the clock was set back by a day", -24 * 60],
  ])("is ended by the next tick %s, which evaluates", async (_, minutes) => {
    let hung = false;
    world.before = (call) => {
      if (call !== "d1 save") return;
      hung = true;
      return new Promise(() => {});
    };
    void world.tick();
    await expect.poll(() => hung).toBe(true);
    world.before = () => {};
    const { monitor, time } = world;
    const tick = time + minutes * MINUTE_MS;
    const asked = { trigger: "cron", requested_by: "cron", tick } as const;
    const evaluate = () => world.monitor.evaluate(asked, tick);
    const result = await evaluate().catch(evaluate);
    expect(result).toMatchObject({ ok: true, run: { finished_at: expect.any(String) } });
    expect(world.monitor).not.toBe(monitor);
  });
});

describe("an alert", () => {
  it("reaches the target once when it fires and once when it is resolved, with evidence and receipts", async () => {
    world.compared(31);
    const fired = await world.tick();
    await world.tick();
    world.compared(0);
    const better = await world.tick();
    const resolved = await world.tick();
    const quiet = await world.tick();
    expect(arrived()).toEqual(["firing catalog_stale", "resolved catalog_stale"]);

    expect(fired).toMatchObject({ worst: "fail", firing: 1, fired: 1, notified: 1, changed: true });
    expect(resultOf(fired, "catalog_stale")).toMatchObject({
      severity: "fail",
      state: "firing",
      previous_state: "inactive",
      since: new Date(NOW + EVALUATION_MS).toISOString(),
      threshold: 30 * HOUR_MS,
      unit: "ms",
      evidence: { generation: 7 },
      notified: [{ target: "ops", change: "fired", delivered: true }],
    });
    expect(fired.deliveries).toMatchObject([
      { target: "ops", delivered: true, attempts: 1, status: 200, error: null },
    ]);
    expect(better).toMatchObject({ worst: "pass", firing: 1, fired: 0, resolved: 0, notified: 0 });
    expect(resultOf(better, "catalog_stale")).toMatchObject({
      severity: "fail",
      status: "pass",
      message: expect.stringMatching(/^Recovering: The catalog was last compared/),
    });
    expect(resolved).toMatchObject({ worst: "pass", firing: 0, resolved: 1, notified: 1 });
    expect(resultOf(resolved, "catalog_stale")).toMatchObject({
      state: "resolved",
      previous_state: "firing",
      notified: [{ change: "resolved", delivered: true }],
    });
    expect(quiet).toMatchObject({ changed: false, notified: 0 });
    expect([...world.rows.values()]).toHaveLength(5);
  });

  it("repeats after ALERT_REPEAT_MS while it stays open, each time under a new id", async () => {
    world.restart({ ...receiver.settingsFor("ops"), ALERT_REPEAT_MS: "300000" });
    world.compared(31);
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(arrived()).toEqual(Array.from({ length: 3 }, () => "firing catalog_stale"));
    expect(new Set(messagesOf("catalog_stale").map(([id]) => id)).size).toBe(3);
  });

  it("reaches the target after the pause that excuses it", async () => {
    const pause = { at: world.at(-HOUR_MS), by: "ops", note: null, until: null };
    world.ingest = { ...world.ingest, pause };
    expect(await world.tick()).toMatchObject({ worst: "pass", suppressed: 0 });
    world.compared(31);
    expect(await world.tick()).toMatchObject({ worst: "warn", firing: 1, suppressed: 1 });
    expect(arrived()).toEqual([]);
    world.ingest = { ...world.ingest, pause: null };
    await world.tick();
    expect(arrived()).toEqual(["firing catalog_stale"]);
  });

  it("goes to each target, and again only to one that failed", async () => {
    const chat = await WebhookReceiver.start();
    const hooks = [
      { name: "ops", kind: "webhook", url: receiver.url },
      { name: "chat", kind: "slack", url: chat.url },
    ];
    world.restart({ ALERT_WEBHOOKS: JSON.stringify(hooks) });
    await chat.goAway();
    world.compared(31);
    expect(await world.tick()).toMatchObject({ notified: 1, notify_failed: 1 });
    await chat.comeBack();
    const second = await world.tick();
    expect(second).toMatchObject({ notified: 1, notify_failed: 0, changed: true });
    expect(resultOf(second, "catalog_stale").notified).toEqual([
      { target: "chat", change: "fired", delivered: true },
    ]);
    await world.tick();
    expect([receiver.received.length, chat.received.length]).toEqual([1, 1]);
    await chat.goAway();
  });

  it("arrives again under the same id if the object is lost during the delivery", async () => {
    world.compared(31);
    const unanswered = Promise.withResolvers<ServerResponse>();
    receiver.answers = [unanswered.resolve];
    // Nobody ever hears of the end of this evaluation.
    const lost = world.tick().catch(() => {});
    const response = await unanswered.promise;
    receiver.answers = [status(200)];
    world.restart();
    world.ingest = { ...world.ingest, historyLostAt: world.at(-HOUR_MS) };
    const next = await world.tick();
    const [interrupted] = world.rows.values();
    expect(interrupted).toMatchObject({ finished_at: null, notified: 0, notify_failed: 0 });
    reset(response);
    await lost;
    const [first, ...again] = messagesOf("catalog_stale");
    expect(first).toEqual([expect.any(String), world.at(-EVALUATION_MS)]);
    expect(again.length).toBeGreaterThan(0);
    for (const message of again) expect(message).toEqual(first);
    expect(messagesOf("history_lost").map(([id]) => id === first?.[0])).toEqual([false]);
    expect(resultOf(next, "catalog_stale")).toMatchObject({
      state: "firing",
      previous_state: "firing",
      notified: [{ target: "ops", change: "fired", delivered: true }],
    });
  });

  it("ends and is forgotten when its target is no longer configured", async () => {
    world.restart(receiver.settingsFor("ops", "old"));
    receiver.answers = [status(500)];
    world.compared(31);
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    receiver.answers = [status(200)];
    world.restart(receiver.settingsFor("ops"));
    const runs = [await world.tick(), await world.tick(), await world.tick(), await world.tick()];
    const states = runs.map((run) =>
      run.results
        .filter(({ labels }) => labels["target"] === "old")
        .map(({ state, status: check }) => `${state} ${check}`),
    );
    expect(states).toEqual([["firing pass"], ["resolved pass"], ["inactive pass"], []]);
    expect(arrived().at(-1)).toBe("resolved notify_failing");
  });
});

describe("a receiver", () => {
  beforeEach(() => world.compared(31));

  it("gets an unanswered message again under the same id, and news under another", async () => {
    receiver.answers = [reset];
    await world.tick();
    world.ingest = { ...world.ingest, historyLostAt: world.at(-HOUR_MS) };
    expect(await world.tick()).toMatchObject({ notified: 0, notify_failed: 2 });
    receiver.answers = [status(200)];
    world.restart();
    expect(await world.tick()).toMatchObject({ notified: 2, notify_failed: 0 });
    expect(await world.tick()).toMatchObject({ notified: 0 });
    const [old, news] = ["catalog_stale", "history_lost"].map((rule) => messagesOf(rule));
    expect([old, news].map((messages) => messages?.length)).toEqual([2 * 2 + 1, 2 + 1]);
    expect([old, news].map((messages) => new Set(messages?.map(([id]) => id)).size)).toEqual([
      1, 1,
    ]);
    expect(news?.[0]).not.toEqual(old?.[0]);
  });

  const [open, ended] = ["firing fail", "resolved fail"];
  const goodAgain = async () => {
    world.compared(0);
    await world.tick();
    await world.tick();
  };

  it.each<[string, () => void | Promise<void>, readonly string[]]>([
    ["nothing again after a new start", () => world.restart(), [open]],
    [
      "an end that it missed",
      async () => {
        await receiver.goAway();
        await goodAgain();
        await receiver.comeBack();
      },
      [open, ended],
    ],
    [
      "a new incident instead of the end that it missed",
      async () => {
        await receiver.goAway();
        await goodAgain();
        world.compared(31);
        await receiver.comeBack();
      },
      [open, open],
    ],
    [
      "nothing of an alert that came and went while it was away",
      async () => {
        await goodAgain();
        await receiver.goAway();
        world.compared(31);
        await world.tick();
        await goodAgain();
        await receiver.comeBack();
      },
      [open, ended],
    ],
    [
      "what is open under a new address or name",
      async () => {
        const [settings, moved] = [receiver.settingsFor("ops"), receiver.settingsFor("moved")];
        const renamed = moved.ALERT_WEBHOOKS.replace('"name":"moved"', '"name":"ops"');
        world.restart({ ALERT_WEBHOOKS: renamed });
        await world.tick();
        world.restart(moved);
        await world.tick();
        world.restart(settings);
      },
      [open, open, open, open],
    ],
    [
      "what is open four hours after a clock was a year fast",
      async () => {
        world.time += 365 * 24 * HOUR_MS;
        world.compared(31);
        await world.tick();
        world.time -= 365 * 24 * HOUR_MS;
        world.compared(31);
        await world.tick();
        world.time += 4 * HOUR_MS;
      },
      [open, open, open],
    ],
  ])("learns %s", async (_, happen, expected) => {
    await world.tick();
    await happen();
    await world.tick();
    await world.tick();
    expect(labelled("catalog_stale")).toEqual(expected);
  });

  it("raises an alert of its own after three failures, and hears of it once it answers again", async () => {
    await receiver.goAway();
    const runs = [await world.tick(), await world.tick(), await world.tick()];
    expect(runs.map((run) => resultOf(run, "notify_failing").state)).toEqual([
      "inactive",
      "inactive",
      "inactive",
    ]);
    const fourth = await world.tick();
    expect(resultOf(fourth, "notify_failing")).toMatchObject({
      state: "firing",
      value: 3,
      labels: { target: "ops" },
      message: expect.stringContaining("the connection failed"),
    });
    await receiver.comeBack();
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    const [resolved, ...fired] = arrived().toReversed();
    expect(resolved).toBe("resolved notify_failing");
    expect(fired.toSorted()).toEqual(["firing catalog_stale", "firing notify_failing"]);
  });
});

describe("two evaluations at a time", () => {
  it("notify once, and run one after the other", async () => {
    world.compared(31);
    const unanswered = Promise.withResolvers<ServerResponse>();
    receiver.answers = [unanswered.resolve, status(200)];
    const evaluations = Promise.all([world.tick(), world.tick(), world.evaluate()]);
    status(200)(await unanswered.promise);
    const runs = await evaluations;
    expect(arrived()).toEqual(["firing catalog_stale"]);
    expect(runs.map(({ notified }) => notified)).toEqual([1, 0, 0]);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
  });
});

describe("a tick that fires again", () => {
  it("leads to another evaluation only if the one before has failed", async () => {
    world.compared(31);
    const tick = { trigger: "cron", requested_by: "cron", tick: NOW } as const;
    world.tables.sql.exec("ALTER TABLE outgoing RENAME TO away");
    await expect(world.monitor.evaluate(tick)).rejects.toThrow("outgoing");
    expect(arrived()).toEqual([]);
    world.tables.sql.exec("ALTER TABLE away RENAME TO outgoing");
    expect((await world.monitor.evaluate(tick)).ok).toBe(true);
    expect(arrived()).toEqual(["firing catalog_stale"]);
    expect(await world.monitor.evaluate(tick)).toMatchObject({ reason: "already_evaluated" });
  });
});

describe("the start of an alert", () => {
  const startTimes = () => messagesOf("catalog_stale").map(([, startsAt]) => startsAt);

  it("is the same in each message about it, also about its end", async () => {
    world.compared(31);
    const { started_at } = await world.tick();
    world.compared(0);
    for (let ticks = 0; ticks < 2; ticks++) await world.tick();
    expect(startTimes()).toEqual([started_at, started_at]);
  });

  it("is not in the future once a clock that was fast is right again", async () => {
    world.compared(31);
    receiver.answers = [status(400), status(200)];
    world.time += 24 * HOUR_MS;
    await world.tick();
    world.time -= 24 * HOUR_MS;
    world.restart();
    await world.tick();
    expect(Date.parse(String(startTimes()[1]))).toBeLessThanOrEqual(world.time);
  });
});

describe("a receiver that says when to come back", () => {
  it.each([
    ["900", 15],
    ["301", 10],
    ["6", 5],
    ["99999999999999999999", 60],
  ])("is asked once, and then not within %s s", async (seconds, minutes) => {
    world.compared(31);
    receiver.answers = [status(429, { "retry-after": seconds }), status(200)];
    expect(await world.tick()).toMatchObject({ notify_failed: 1 });
    expect(receiver.received).toHaveLength(1);
    for (let passed = 5; passed < minutes; passed += 5) {
      const { deliveries, notify_failed } = await world.tick();
      expect([deliveries, notify_failed > 0]).toEqual([[], true]);
      expect(receiver.received).toHaveLength(1);
    }
    expect(await world.tick()).toMatchObject({ notify_failed: 0 });
    const [first, ...others] = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(others).toContain(first);
    expect(arrived().join(" ")).toContain("catalog_stale");
  });

  it("gets the message within seconds if it asks for no longer wait", async () => {
    world.compared(31);
    receiver.answers = [status(429, { "retry-after": "5" }), status(200)];
    expect(await world.tick()).toMatchObject({ notified: 1, notify_failed: 0 });
    expect(receiver.received).toHaveLength(2);
    const [row] = world.tables.sql.exec("SELECT value FROM targets").toArray();
    expect(JSON.parse(String(row?.["value"]))).not.toHaveProperty("silence");
  });

  it("is asked at the next evaluation once it has taken a test", async () => {
    world.compared(31);
    receiver.answers = [status(503, { "retry-after": "3600" })];
    await world.tick();
    expect(await world.monitor.test("ops")).toMatchObject([{ delivered: false }]);
    expect(await world.tick()).toMatchObject({ deliveries: [], notify_failed: 1 });
    receiver.answers = [status(200)];
    expect(await world.monitor.test("ops")).toMatchObject([{ delivered: true }]);
    expect(await world.tick()).toMatchObject({ notified: 1, notify_failed: 0 });
  });

  it("is asked again once a clock that was fast is right", async () => {
    world.compared(31);
    receiver.answers = [status(429, { "retry-after": "600" }), status(200)];
    world.time += 23 * HOUR_MS;
    await world.tick();
    world.time -= 23 * HOUR_MS;
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(receiver.received.length).toBeGreaterThan(1);
  });

  it("counts as one that accepts no message, until it does", async () => {
    world.compared(31);
    receiver.answers = [status(503, { "retry-after": "3600" })];
    for (let ticks = 0; ticks < 3; ticks++) await world.tick();
    expect(resultOf(await world.tick(), "notify_failing")).toMatchObject({ status: "warn" });
    receiver.answers = [status(200)];
    for (let ticks = 0; ticks < 12; ticks++) await world.tick();
    expect(resultOf(await world.tick(), "notify_failing")).toMatchObject({ status: "pass" });
  });
});

describe("an evaluation while D1 is down", () => {
  it("delivers its alerts, and the history arrives once D1 is back", async () => {
    world.before = (call) => {
      if (call.startsWith("d1")) throw new Error("D1_ERROR: down");
    };
    world.compared(31);
    const first = await world.tick();
    const second = await world.tick();
    expect(arrived()).toEqual(["firing catalog_stale", "firing queue_backlog"]);
    expect(resultOf(second, "queue_backlog", "history")).toMatchObject({
      state: "nodata",
      message: "Unknown: D1 cannot be read (D1_ERROR: down).",
    });
    expect(world.rows.size).toBe(0);
    expect(world.monitor.status().outboxLength).toBe(2);
    expect(world.logged.filter(({ event }) => event === "alert_history_unreachable")).toHaveLength(
      2,
    );

    world.before = () => {};
    world.restart();
    const third = await world.tick();
    expect([...world.rows.keys()]).toEqual([first.id, second.id, third.id]);
    expect(world.rows.get(first.id)).toEqual(withoutInactive(first));
    expect(world.monitor.status().outboxLength).toBe(0);
  });

  it("waits for D1 if it is among the newest 5,000", async () => {
    world.before = (call) => {
      if (call.startsWith("d1")) throw new Error("D1_ERROR: down");
    };
    const first = await world.tick();
    world.tables.sql.exec(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4999)
       INSERT INTO outgoing (outbox, id, value) SELECT outbox, n, value FROM outgoing, numbers`,
    );
    const waiting = () =>
      new MonitorState(world.tables, { log: () => {}, now: () => world.time }).outbox
        .rows()
        .map(({ value }) => value.id);
    expect(waiting()).toHaveLength(5_000);
    const last = await world.tick();
    expect(waiting()).toHaveLength(5_000);
    expect(new Set(waiting())).toEqual(new Set([first.id, last.id]));
  });

  it("ends even if D1 never answers", async () => {
    // A timer of the real clock gives up what never settles.
    world.before = (call) => (call === "d1 ping" ? new Promise(() => {}) : undefined);
    const run = await world.tick();
    expect(resultOf(run, "queue_backlog", "history")).toMatchObject({ state: "nodata" });
  });
});

describe("an input that cannot be read", () => {
  it("shows up at once, alerts when it lasts, and ends after two successful reads", async () => {
    world.before = (call) => {
      if (call === "ingest") throw new Error("reset");
    };
    const first = await world.tick();
    expect(first).toMatchObject({ worst: "warn", firing: 0, fired: 0, notified: 0 });
    expect(first.nodata).toBeGreaterThan(5);
    const raised = await world.tick();
    expect(arrived()).toHaveLength(1);
    expect(arrived()[0]).toContain("ingest_failing");
    expect(raised.fired).toBe(raised.nodata);
    world.before = () => {};
    await world.tick();
    const last = await world.tick();
    expect(last).toMatchObject({ worst: "pass", nodata: 0, resolved: raised.fired });
    expect(arrived()).toHaveLength(2);
    expect(arrived()[1]).toMatch(/^resolved .*ingest_failing/);
  });
});

describe("an alert without data", () => {
  it("is resolved under the severity under which it was raised", async () => {
    world.before = (call) => {
      if (call === "backups") throw new Error("reset");
    };
    await world.tick();
    const raised = await world.tick();
    world.before = () => {};
    await world.tick();
    const runs = [raised, await world.tick()];
    expect(runs.map((run) => resultOf(run, "backup_stale"))).toMatchObject([
      { state: "nodata", status: "warn", severity: "warn" },
      { state: "resolved", status: "pass", severity: "warn" },
    ]);
  });
});

describe("a receiver that identifies alerts by their labels", () => {
  const bad = () => {
    world.before = () => {};
    world.compared(31);
  };
  const paused = () => {
    const pause = { at: world.at(-HOUR_MS), by: "ops", note: null, until: null };
    world.ingest = { ...world.ingest, pause };
  };
  const nodata = () => {
    world.before = (call) => {
      if (call === "ingest") throw new Error("reset");
    };
  };
  const good = () => {
    world.before = () => {};
    world.compared(0);
  };

  it.each([
    ["was unreadable at last", [bad, nodata], ["firing fail", "firing fail", "resolved fail"]],
    ["was excused by a pause at last", [bad, paused], ["firing fail", "resolved fail"]],
    [
      "was unreadable at first",
      [nodata, nodata, bad],
      ["firing warn", "firing fail", "resolved warn", "resolved fail"],
    ],
  ])("is left with no open alert if the input %s", async (_, happenings, expected) => {
    for (const happen of [...happenings, good, good]) {
      happen();
      await world.tick();
    }
    expect(labelled("catalog_stale")).toEqual(expected);
  });
});

describe("a damaged copy", () => {
  const [sha256] = partsOf("hello", "gzip");

  it("fires when it is seen twice, and ends when the copy is whole again", async () => {
    const whole = world.store.kv.get(blobKey(sha256)) ?? new Uint8Array();
    world.store.kv.set(blobKey(sha256), Uint8Array.of(1, 2, 3));
    expect(resultOf(await world.tick(), "integrity_mismatch").state).toBe("pending");
    expect(resultOf(await world.tick(), "integrity_mismatch")).toMatchObject({
      state: "firing",
      value: 1,
      evidence: { damaged: [{ replica: "kv", sha256, fault: "corrupt" }] },
    });
    world.store.kv.set(blobKey(sha256), whole);
    await world.tick();
    expect(resultOf(await world.tick(), "integrity_mismatch").state).toBe("resolved");
  });

  it("comes to light in one locale an hour, and in the manifests at each tick", async () => {
    const reads = async () => {
      world.store.calls.length = 0;
      await world.tick();
      const blobs = world.store.calls.filter((call) => !call.includes(MANIFEST_KEY));
      return [world.store.calls.length - blobs.length, blobs.length];
    };
    const [, blobs] = await reads();
    expect(blobs).toBeGreaterThan(0);
    for (let ticks = 1; ticks < 12; ticks++) expect(await reads()).toEqual([2, 4]);
    expect(await reads()).toEqual([2, blobs]);
  });

  it("is looked for in one locale after another, also by a restarted monitor", async () => {
    world.store.publish(aVersion(7, "hello", ["de", "en", "ja"]));
    for (let hours = 0; hours < 4; hours++) {
      world.restart();
      await world.tick(60);
    }
    const checked = world.logged.flatMap(({ event, fields }) =>
      event === "alerts_facts_read" ? [fields] : [],
    );
    expect(checked).toMatchObject(
      ["de", "en", "ja", "de"].map((checked_locale) => ({ checked_locale })),
    );
  });
});

describe("a gap between two ticks", () => {
  it("fires when the ticks come again, and is resolved after two of them", async () => {
    await world.tick();
    const late = await world.tick(60);
    expect(resultOf(late, "monitor_gap")).toMatchObject({ state: "firing", value: HOUR_MS });
    await world.tick();
    expect(resultOf(await world.tick(), "monitor_gap").state).toBe("resolved");
    expect(arrived()).toEqual(["firing monitor_gap", "resolved monitor_gap"]);
  });
});

describe("the dead-man's ping", () => {
  it("goes out after each evaluation", async () => {
    const pinged = await WebhookReceiver.start();
    world.restart({ ALERT_PING_URL: pinged.url });
    expect((await world.tick()).ping).toBe("sent");
    expect((await world.evaluate()).ping).toBe("sent");
    expect(pinged.received).toMatchObject([{ method: "GET" }, { method: "GET" }]);
    await pinged.goAway();
  });

  it("leaves a record and a log line without its address if it fails", async () => {
    world.restart({ ALERT_PING_URL: `${receiver.url}/very-secret-ping` });
    receiver.answers = [status(404)];
    expect((await world.tick()).ping).toBe("failed");
    expect(world.log).toContain("alerts_ping_failed");
    expect(world.log).not.toContain("very-secret-ping");
  });
});

describe("settings that cannot be used", () => {
  it("do not stop the evaluations, the webhooks and the ping, which say what is wrong", async () => {
    const { ALERT_WEBHOOKS } = receiver.settingsFor("ops");
    const ALERT_PING_URL = `${receiver.url}/ping`;
    world.restart({ ALERT_WEBHOOKS, ALERT_PING_URL, ALERT_REPEAT_MS: "often" });
    const run = await world.tick();
    expect(run).toMatchObject({ worst: "warn", firing: 1, ping: "sent" });
    const problem = "ALERT_REPEAT_MS must be a whole number, 60000 to 604800000";
    expect(resultOf(run, "settings_wrong")).toMatchObject({
      status: "warn",
      message: expect.stringContaining(problem),
    });
    expect(receiver.received[0]?.body).toContain(problem);
    world.restart({ ALERT_WEBHOOKS });
    await world.tick();
    expect(resultOf(await world.tick(), "settings_wrong").state).toBe("resolved");
  });
});

describe("the log and the records", () => {
  it("contain no webhook's address or secret, even when all deliveries fail", async () => {
    receiver.answers = [reset];
    world.compared(31);
    for (let ticks = 0; ticks < 4; ticks++) await world.tick();
    await world.monitor.test("ops");
    const written = world.log + JSON.stringify([...world.rows.values(), world.monitor.status()]);
    expect(written).toContain("notify_failing");
    expect(written).not.toContain("127.0.0.1");
    expect(written).not.toContain(WEBHOOK_SECRET);
  });
});

describe("a coordinator that stays silent", () => {
  const fall = (afterMs: number) => {
    world.before = (call) => {
      if (call !== "ingest") return;
      world.time += afterMs;
      throw new Error("no answer");
    };
  };
  const evaluated = async () => {
    const { state, status: judgment } = resultOf(await world.tick(), "ingest_stuck");
    return `${state} ${judgment}`;
  };

  it("first lacks data, and after ten minutes fails until it answers again", async () => {
    fall(25_000);
    expect(await evaluated()).toBe("nodata warn");
    world.time -= 25_000;
    fall(0);
    expect(await evaluated()).toBe("nodata warn");
    world.restart();
    expect([await evaluated(), await evaluated()]).toEqual(["pending fail", "firing fail"]);
    world.before = () => {};
    expect([await evaluated(), await evaluated()]).toEqual(["firing pass", "resolved pass"]);
    fall(0);
    expect(await evaluated()).toBe("nodata warn");
  });

  it("does not count the time in which the monitor slept", async () => {
    fall(0);
    expect(await evaluated()).toBe("nodata warn");
    world.time += 3 * 3_600_000;
    expect(await evaluated()).toBe("nodata warn");
  });
});
