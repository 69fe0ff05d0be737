import { describe, expect, it } from "vitest";
import {
  checkCoordinator,
  checkCrons,
  checkRuns,
  type CoordinatorStatusFacts,
} from "../../../src/health/ingest-checks.ts";
import { outputOf, worstOf } from "../../../src/health/status.ts";
import {
  aFailedRun,
  ago,
  anEndedRun,
  DEFAULT_LIMITS,
  HOUR_MS,
  MINUTE_MS,
  NOW,
  someIngestFacts,
} from "../../builders/facts.ts";

const context = { now: NOW, limits: DEFAULT_LIMITS };

function aStatus(changes: Partial<CoordinatorStatusFacts> = {}): CoordinatorStatusFacts {
  return {
    ...someIngestFacts(),
    pause: null,
    leaseUntil: null,
    lastTicks: {},
    oldestPublishedAt: null,
    ...changes,
  };
}

/** What the checks of the coordinator come to. */
function said(changes: Partial<CoordinatorStatusFacts>) {
  const checks = checkCoordinator(aStatus(changes), context);
  return { status: worstOf(checks), output: outputOf(checks) };
}

const PAUSE = { at: ago(HOUR_MS), by: "ops", note: "bad data", until: null };

describe("checkCoordinator", () => {
  it("passes while nothing waits", () => {
    expect(said({})).toEqual({ status: "pass", output: undefined });
  });

  it("only warns of a pause, and says whose it is", () => {
    expect(said({ pause: PAUSE })).toEqual({
      status: "warn",
      output: "ingest:paused: paused by ops: bad data",
    });
  });

  it("fails with a run that has been silent for ten minutes, unless it is paused", () => {
    const running = { id: "run-2", stage: "encode", heartbeat_at: ago(10 * MINUTE_MS) };
    expect(said({ running })).toEqual({
      status: "fail",
      output: "ingest:running: Run run-2 has been in stage encode without a heartbeat for 10 min.",
    });
    expect(said({ running, pause: PAUSE }).status).toBe("warn");
  });

  it("warns of runs and rows that wait, and of stores that have lagged for ten minutes", () => {
    const queued = Array.from({ length: 5 }, () => ({ id: "run-2", queued_at: ago(0) }));
    const lag = (ms: number) => ({
      replicated: false,
      current: { generation: 8, published_at: ago(ms) },
    });
    expect(said(lag(10 * MINUTE_MS - 1)).status).toBe("pass");
    expect(said({ queued, outboxLength: 6, ...lag(10 * MINUTE_MS) })).toEqual({
      status: "warn",
      output:
        "ingest:queue: 5 runs wait.; ingest:replication: Generation 8 was published 10 min ago, and the stores do not show it yet.; ingest:outbox: 6 rows wait for D1.",
    });
  });
});

describe("checkCrons", () => {
  it("warns of cron ticks that were due and did not come", () => {
    const cron = "17 4 * * *";
    const lastTick = Date.parse("2026-11-17T04:17:00.000Z");
    const missed = (changes: Partial<CoordinatorStatusFacts>) =>
      checkCrons(aStatus(changes), [cron], NOW)["cron:ticks"];
    expect(missed({ lastTicks: { [cron]: lastTick } })).toMatchObject([
      { status: "warn", observedValue: 3, time: "2026-11-17T04:17:00.000Z" },
    ]);
    expect(missed({ oldestPublishedAt: ago(24 * HOUR_MS) })).toMatchObject([{ observedValue: 1 }]);
    expect(missed({})).toMatchObject([{ status: "pass", observedValue: 0 }]);
  });
});

describe("checkRuns", () => {
  it("warns of a run that failed, with its id and why", () => {
    const checks = checkRuns({ ended: aFailedRun(), succeeded: anEndedRun() }, context);
    expect(outputOf(checks)).toBe("ingest:lastRun: run run-1 failed: store_fault");
  });

  it("warns where no run has succeeded yet, or none for as long as the catalog may be stale", () => {
    const output = (changes: Parameters<typeof checkRuns>[0]["succeeded"]) =>
      outputOf(checkRuns({ ended: undefined, succeeded: changes }, context));
    expect(output(undefined)).toBe("ingest:lastSuccess: no run has succeeded yet");
    expect(output({ finished_at: ago(30 * HOUR_MS - 1) })).toBeUndefined();
    expect(output({ finished_at: ago(30 * HOUR_MS) })).toContain("last compared with upstream");
  });
});
