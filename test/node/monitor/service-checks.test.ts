import { describe, expect, it } from "vitest";
import { type Checks, outputOf, problemsOf, worstOf } from "../../../src/schemas/check.ts";
import {
  checkCoordinator,
  checkEmptyStores,
  checkMonitor,
} from "../../../src/monitor/service-checks.ts";
import { anAlertResult, anAlertRun } from "../../builders/alert-run.ts";
import type { MonitorStatus } from "../../../src/monitor/monitor.ts";
import {
  ago,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  type RoughStatus,
  someIngestFacts,
} from "../../builders/facts.ts";

const sumUp = (checks: Checks) => ({ status: worstOf(checks), output: outputOf(checks) });

const EVALUATED_AT = ago(5 * MINUTE_MS);

/** The checks of a monitor that has evaluated five minutes ago and notifies somebody. */
const check = (changes: Partial<MonitorStatus> = {}) => {
  const lastRun = anAlertRun({ started_at: EVALUATED_AT });
  const status = { lastRun, webhooks: 1, outboxLength: 0, ...changes };
  return checkMonitor(status, NOW);
};

const evaluatedAt = (started_at: string) => ({ lastRun: anAlertRun({ started_at }) });

describe("checkMonitor", () => {
  it.each<[string, Partial<MonitorStatus>, "pass" | "warn" | "fail", string | undefined]>([
    ["passes while nothing is wrong", {}, "pass", undefined],
    [
      "fails before the first evaluation",
      { lastRun: null },
      "fail",
      "monitor:evaluation: the rules have never been evaluated",
    ],
    [
      "passes just before an evaluation is late",
      evaluatedAt(ago(15 * MINUTE_MS - 1)),
      "pass",
      undefined,
    ],
    [
      "fails once an evaluation is late",
      evaluatedAt(ago(15 * MINUTE_MS)),
      "fail",
      `monitor:evaluation: the rules were last evaluated 15 min ago: look at the cron trigger and the log`,
    ],
    [
      "warns where nobody is notified",
      { webhooks: 0 },
      "warn",
      "monitor:webhooks: no webhook is configured: nobody is notified",
    ],
  ])("%s", (_, changes, status, output) => {
    expect(sumUp(check(changes))).toEqual({ status, output });
  });

  it("shows each finding under its rule, with the time of the evaluation", () => {
    const backlog = (queue: string) =>
      anAlertResult({
        rule: "queue_backlog",
        labels: { queue },
        status: queue === "history" ? "warn" : "pass",
        value: 7,
        unit: "rows",
        message: `The queue ${queue} is long.`,
      });
    const results = [backlog("ingest"), backlog("history")];
    const lastRun = anAlertRun({ started_at: EVALUATED_AT, results });
    const { fingerprint } = anAlertResult();
    const observed = { observedValue: 7, observedUnit: "rows", time: EVALUATED_AT, fingerprint };
    expect(check({ lastRun })["rule:queue_backlog"]).toEqual([
      { status: "pass", ...observed },
      { status: "warn", ...observed, output: "The queue history is long." },
    ]);
  });
});

describe("problemsOf", () => {
  it("lists whatever does not pass, the most severe first", () => {
    const checks: Checks = {
      "ingest:paused": [{ status: "warn", output: "paused" }],
      "kv:responseTime": [{ status: "pass" }],
      "d1:responseTime": [{ status: "fail" }],
    };
    expect(problemsOf(checks)).toEqual([
      { name: "d1:responseTime", status: "fail", output: "not as it should be" },
      { name: "ingest:paused", status: "warn", output: "paused" },
    ]);
  });
});

describe("checkCoordinator", () => {
  const pause = { at: ago(HOUR_MS), by: "ops", note: "bad data", until: null };
  const until = ago(-HOUR_MS);

  it.each<[string, RoughStatus, "pass" | "warn", string | undefined]>([
    ["passes while nothing happens", {}, "pass", undefined],
    ["warns of a pause, with its reason", { pause }, "warn", "paused by ops: bad data"],
    [
      "names the end of a pause",
      { pause: { ...pause, note: null, until } },
      "warn",
      "paused by ops until 2026-11-20 13:00 UTC",
    ],
    [
      "leaves the judgment of a long queue to the rules",
      { queued: Array.from({ length: 9 }, () => ({ id: "run-2", queued_at: ago(0) })) },
      "pass",
      undefined,
    ],
  ])("%s", (_, changes, status, output) => {
    expect(sumUp(checkCoordinator(someIngestFacts(changes)))).toEqual({
      status,
      output: output && `ingest:paused: ${output}`,
    });
  });

  it("shows the running job and the length of the queue", () => {
    const progress = { done: 0, total: 0 };
    const running = { id: "run-1", stage: "build" as const, progress, queued_at: ago(0) };
    const queued = [{ queued_at: ago(0) }];
    expect(checkCoordinator(someIngestFacts({ running, queued }))).toMatchObject({
      "ingest:queue": [{ observedValue: 1 }],
      "ingest:running": [{ observedValue: "run-1 build" }],
    });
  });
});

describe("checkEmptyStores", () => {
  const EMPTY = { lastRun: null, webhooks: 1, outboxLength: 0 };
  const sinceNothing = (changes: RoughStatus = {}, monitor: MonitorStatus = EMPTY) =>
    checkEmptyStores(someIngestFacts({ current: null, ...changes }), monitor, NOW);
  const queued = [{ id: "run-1", queued_at: ago(0) }];

  it("warns while the first run is in progress, and says how far it is", () => {
    const progress = { done: 3, total: 64 };
    const queued_at = ago(15 * MINUTE_MS - 1);
    const running = { id: "run-1", stage: "encode" as const, progress, queued_at };
    expect(sumUp(sinceNothing({ running }))).toEqual({
      status: "warn",
      output:
        "catalog:present: the first run is in progress, in stage encode: 3 of 64; monitor:evaluation: the rules have not been evaluated yet",
    });
  });

  it.each([
    ["hangs", { running: "build" as const }],
    ["never begins", { running: null }],
  ])("fails once the first run has been queued for the monitor's gap and %s", (_, { running }) => {
    const queued_at = ago(15 * MINUTE_MS);
    const progress = { done: 0, total: 0 };
    const run = running && { id: "run-1", stage: running, progress, queued_at };
    const checks = sinceNothing({ running: run, queued: run ? [] : [{ queued_at }] });
    // The evaluation that never came stays a failure, too.
    expect(Object.keys(checks)).toEqual(["catalog:present"]);
    expect(sumUp(checks)).toEqual({
      status: "fail",
      output: expect.stringContaining("was queued 15 min ago"),
    });
  });

  it("fails when the stores have lost what was published, even while a run is in progress", () => {
    const current = { generation: 7, published_at: ago(HOUR_MS) };
    expect(sumUp(sinceNothing({ queued, current }))).toEqual({
      status: "fail",
      output: expect.stringMatching(/lost the manifest of version 7.*restore the newest backup$/),
    });
  });

  it("leaves a late evaluation to the check of the monitor", () => {
    const lastRun = anAlertRun({ started_at: ago(HOUR_MS) });
    const checks = sinceNothing({ queued }, { ...EMPTY, lastRun });
    expect(Object.keys(checks)).toEqual(["catalog:present"]);
    expect(sumUp(checks).output).toBe("catalog:present: the first run waits in the queue");
  });

  it("returns no check if no first run is queued, or ingestion is paused", () => {
    expect(sinceNothing()).toEqual({});
    const pause = { at: ago(0), by: "ops", note: null, until: null };
    expect(sinceNothing({ queued, pause })).toEqual({});
  });
});
