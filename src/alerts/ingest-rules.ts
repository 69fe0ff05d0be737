import { describeDuration } from "./durations.ts";
import type { EndedRun, Facts, IngestFacts } from "./facts.ts";
import { type Finding, measured, type Rule, type RuleContext, unknown, whyUnread } from "./rule.ts";

/** Two ticks, whose distance varies by seconds. */
const TWO_TICKS_MS = 4 * 60_000;
/** Four ticks: a queue that is long for a moment is not a backlog. */
const FOUR_TICKS_MS = 14 * 60_000;
/** Failed runs that evidence names. */
const RUNS_NAMED = 5;

/** Several runs in a row have failed. */
export const ingestFailing: Rule = {
  name: "ingest_failing",
  severity: "fail",
  forMs: 0,
  evaluate: ({ ingest }, { thresholds }) => {
    const measurement = { threshold: thresholds.ingestFailingRuns, unit: "runs" } as const;
    if (!ingest.ok) return [unknown(ingest.why, measurement)];
    const failed = failuresInARow(ingest.value.ended);
    const value = failed.length;
    const [last] = failed;
    const message =
      last === undefined
        ? "The last run succeeded."
        : `${value} ${value === 1 ? "run has" : "runs in a row have"} failed, the last with ${last.error?.code ?? "no code"}: ${last.error?.message ?? "no message"}`;
    const runs = failed.slice(0, RUNS_NAMED).map(({ id, finishedAt, error }) => ({
      id,
      finished_at: finishedAt,
      code: error?.code ?? null,
      message: error?.message ?? null,
    }));
    return [measured({ ...measurement, value, message, evidence: { runs } })];
  },
};

/** A dry run only asks, and a run that was cancelled or skipped says nothing. */
function decisive({ state, mode }: EndedRun): boolean {
  return mode !== "dry_run" && (state === "succeeded" || state === "failed");
}

function failuresInARow(ended: readonly EndedRun[]): readonly EndedRun[] {
  const runs = ended.filter(decisive);
  const success = runs.findIndex(({ state }) => state === "succeeded");
  return success === -1 ? runs : runs.slice(0, success);
}

/** The run under way, or the next one, does not get on. */
export const ingestStuck: Rule = {
  name: "ingest_stuck",
  severity: "fail",
  forMs: TWO_TICKS_MS,
  evaluate: ({ ingest }, { now, thresholds }) => {
    const measurement = { threshold: thresholds.ingestStuckMs, unit: "ms" } as const;
    if (!ingest.ok) return [unknown(ingest.why, measurement)];
    const held = heldRun(ingest.value);
    if (held === null || Date.parse(held.since) > now)
      return [measured({ ...measurement, value: 0, message: "No run is held up." })];
    const value = now - Date.parse(held.since);
    const { runId, since, what } = held;
    const message = `Run ${runId} has been ${what} for ${describeDuration(value)}.`;
    const evidence = { run_id: runId, since, what };
    return [measured({ ...measurement, value, message, evidence })];
  },
};

/**
 * The run that should get on now, and since when it last did. While paused none should, and a second
 * try not before its time.
 */
function heldRun({ pause, running, queued, nextDueAt }: IngestFacts) {
  const [next] = queued;
  if (pause !== null) return null;
  if (running !== null && running.heartbeatAt !== null) {
    const what = `in stage ${running.stage} without a heartbeat`;
    return { runId: running.id, since: running.heartbeatAt, what };
  }
  if (running !== null || next === undefined) return null;
  return { runId: next.id, since: nextDueAt ?? next.queuedAt, what: "waiting though nothing runs" };
}

/** A guard holds a candidate back. */
export const guardTripped: Rule = {
  name: "guard_tripped",
  severity: "warn",
  forMs: 0,
  evaluate: ({ ingest }) => {
    const measurement = { threshold: 1, unit: "guards" } as const;
    if (!ingest.ok) return [unknown(ingest.why, measurement)];
    const held = heldBack(ingest.value.ended);
    const { id: runId = null, guards = [], finishedAt = null } = held ?? {};
    const message =
      held === undefined
        ? "No candidate is held back."
        : `Run ${runId} was refused: ${guards.map(({ guard, message: why }) => `${guard}: ${why}`).join("; ")}`;
    const evidence = {
      run_id: runId,
      finished_at: finishedAt,
      guards: guards.map(({ guard, message: why }) => ({ guard, message: why })),
    };
    return [measured({ ...measurement, value: guards.length, message, evidence })];
  },
};

/** The last run that the guards have judged, if they refused it; other failures say nothing. */
function heldBack(ended: readonly EndedRun[]): EndedRun | undefined {
  const judged = ended
    .filter(decisive)
    .find(({ state, guards }) => state === "succeeded" || guards.length > 0);
  return judged?.state === "failed" ? judged : undefined;
}

/** Ingestion has been paused for long: perhaps it was forgotten. */
export const ingestPausedLong: Rule = {
  name: "ingest_paused_long",
  severity: "warn",
  forMs: 0,
  evaluate: ({ ingest }, { now, thresholds }) => {
    const measurement = { threshold: thresholds.ingestPausedMs, unit: "ms" } as const;
    if (!ingest.ok) return [unknown(ingest.why, measurement)];
    const { pause } = ingest.value;
    if (pause === null)
      return [measured({ ...measurement, value: 0, message: "Ingestion is not paused." })];
    const value = Math.max(0, now - Date.parse(pause.at));
    const message = `Ingestion has been paused for ${describeDuration(value)}.`;
    const { at, by, reason } = pause;
    return [measured({ ...measurement, value, message, evidence: { at, by, reason } })];
  },
};

/** Too much waits: runs for their turn, or rows of history for D1. */
export const queueBacklog: Rule = {
  name: "queue_backlog",
  severity: "warn",
  forMs: FOUR_TICKS_MS,
  evaluate: (facts, context) => [findWaitingRuns(facts, context), findWaitingRows(facts, context)],
};

function findWaitingRuns({ ingest }: Facts, { thresholds }: RuleContext): Finding {
  const labels = { queue: "ingest" };
  const measurement = { labels, threshold: thresholds.queueBacklogRuns, unit: "runs" } as const;
  if (!ingest.ok) return unknown(ingest.why, measurement);
  const { queued, pause } = ingest.value;
  const depth = queued.length;
  const evidence = {
    depth,
    paused: pause !== null,
    oldest_queued_at: queued.map(({ queuedAt }) => queuedAt).toSorted()[0] ?? null,
  };
  return pause === null
    ? measured({ ...measurement, value: depth, message: `${depth} runs wait.`, evidence })
    : measured({ ...measurement, value: 0, message: `${depth} runs wait for resume.`, evidence });
}

/** D1 has to answer as well: what it refuses waits, and nobody sees it. */
function findWaitingRows({ ingest, history, monitor }: Facts, { thresholds }: RuleContext) {
  const labels = { queue: "history" };
  const measurement = { labels, threshold: thresholds.outboxBacklogRows, unit: "rows" } as const;
  const why = whyUnread(history, ingest);
  if (why !== undefined || !ingest.ok) return unknown(why ?? "", measurement);
  const evidence = { ingest_rows: ingest.value.outboxLength, alert_rows: monitor.outboxLength };
  const value = evidence.ingest_rows + evidence.alert_rows;
  return measured({ ...measurement, value, message: `${value} rows wait for D1.`, evidence });
}
