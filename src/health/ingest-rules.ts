import { describeDuration } from "./durations.ts";
import type { CoordinatorFacts, EndedRun, Facts, Reading } from "./facts.ts";
import { type Finding, judgeInput, type RuleContext } from "./rule.ts";

/** Failed runs that evidence names. */
const RUNS_NAMED = 5;

/** What the coordinator says of itself, as far as most rules here look at it. */
interface Input {
  readonly ingest: Reading<CoordinatorFacts>;
}

/** How many runs in a row have failed. */
export function judgeFailures({ ingest }: Input, { limits }: RuleContext): Finding {
  const measurement = { threshold: limits.ingestFailingRuns, unit: "runs" } as const;
  return judgeInput(ingest, measurement, ({ ended }) => {
    const failed = failuresInARow(ended);
    const value = failed.length;
    const [last] = failed;
    const runs = failed.slice(0, RUNS_NAMED).map(({ id, finished_at, error }) => ({
      id,
      finished_at: finished_at,
      code: error?.code ?? null,
      message: error?.message ?? null,
    }));
    const evidence = { runs };
    if (last === undefined) return { value, message: "The last run succeeded.", evidence };
    const count = value === 1 ? "run has" : "runs in a row have";
    const { code = "no code", message: why = "no message" } = last.error ?? {};
    return { value, message: `${value} ${count} failed, the last with ${code}: ${why}`, evidence };
  });
}

/** A dry run changes nothing, and a run that was cancelled or skipped says nothing. */
function decisive({ state, mode }: EndedRun): boolean {
  return mode !== "dry_run" && (state === "succeeded" || state === "failed");
}

function failuresInARow(ended: readonly EndedRun[]): readonly EndedRun[] {
  const runs = ended.filter(decisive);
  const success = runs.findIndex(({ state }) => state === "succeeded");
  return success === -1 ? runs : runs.slice(0, success);
}

/** Whether the last run failed by what upstream is, which no further try mends. */
export function judgeSource({ ingest }: Input): Finding {
  return judgeInput(ingest, { threshold: 1, unit: "runs" }, ({ ended }) => {
    const last = ended.find(decisive);
    if (last?.state !== "failed" || last.error === null || !isFinal(last.error.code))
      return { value: 0, message: "Upstream can be used." };
    const { id, finished_at, error } = last;
    const message = `Upstream cannot be used until somebody mends it or the settings: ${error.code}: ${error.message}`;
    return {
      value: 1,
      message,
      evidence: { run_id: id, finished_at: finished_at, code: error.code },
    };
  });
}

/** Faults of upstream that a later run may not meet. */
const PASSING_SOURCE_FAULTS: ReadonlySet<string> = new Set([
  "source_unreachable",
  "source_http_status",
  "source_deadline",
  "source_changing",
  "source_truncated",
]);

function isFinal(code: string): boolean {
  return code.startsWith("source_") && !PASSING_SOURCE_FAULTS.has(code);
}

/** For how long the run that should get on has not. */
export function judgeStuck({ ingest }: Input, { now, limits }: RuleContext): Finding {
  const measurement = { threshold: limits.ingestStuckMs, unit: "ms" } as const;
  return judgeInput(ingest, measurement, (coordinator) => {
    const held = heldRun(coordinator);
    if (held === null || Date.parse(held.since) > now)
      return { value: 0, message: "No run is held up." };
    const value = now - Date.parse(held.since);
    const { runId, since, what } = held;
    const message = `Run ${runId} has been ${what} for ${describeDuration(value)}.`;
    return { value, message, evidence: { run_id: runId, since, what } };
  });
}

/**
 * The run that should get on now, and since when it last did. While paused none should, and a second
 * try not before its time.
 */
function heldRun({ pause, running, queued, nextDueAt }: CoordinatorFacts) {
  const [next] = queued;
  if (pause !== null) return null;
  if (running !== null && running.heartbeat_at !== null) {
    const what = `in stage ${running.stage} without a heartbeat`;
    return { runId: running.id, since: running.heartbeat_at, what };
  }
  if (running !== null || next === undefined) return null;
  return {
    runId: next.id,
    since: nextDueAt ?? next.queued_at,
    what: "waiting though nothing runs",
  };
}

/** For how long the stores have not shown what was published. Each try refreshes the heartbeat. */
export function judgeReplication({ ingest }: Input, { now, limits }: RuleContext): Finding {
  const measurement = { threshold: limits.ingestStuckMs, unit: "ms" } as const;
  return judgeInput(ingest, measurement, ({ current, replicated }) => {
    if (current === null || replicated)
      return { value: 0, message: "The stores show what was published." };
    const { generation, published_at } = current;
    const value = Math.max(0, now - Date.parse(published_at));
    const message = `Generation ${generation} was published ${describeDuration(value)} ago, and the stores do not show it yet.`;
    return { value, message, evidence: { generation, published_at } };
  });
}

/** How many guards hold a candidate back. */
export function judgeGuards({ ingest }: Input): Finding {
  return judgeInput(ingest, { threshold: 1, unit: "guards" }, ({ ended }) => {
    const held = heldBack(ended);
    if (held === undefined) return { value: 0, message: "No candidate is held back." };
    const guards = held.guards.map(({ guard, message }) => ({ guard, message }));
    const reasons = guards.map(({ guard, message }) => `${guard}: ${message}`).join("; ");
    const evidence = { run_id: held.id, finished_at: held.finished_at, guards };
    return { value: guards.length, message: `Run ${held.id} was refused: ${reasons}`, evidence };
  });
}

/** The last run that the guards have judged, if they refused it; other failures say nothing. */
function heldBack(ended: readonly EndedRun[]): EndedRun | undefined {
  const judged = ended
    .filter(decisive)
    .find(({ state, guards }) => state === "succeeded" || guards.length > 0);
  return judged?.state === "failed" ? judged : undefined;
}

/** For how long ingestion has been paused: perhaps somebody forgot it. */
export function judgePause({ ingest }: Input, { now, limits }: RuleContext): Finding {
  const measurement = { threshold: limits.ingestPausedMs, unit: "ms" } as const;
  return judgeInput(ingest, measurement, ({ pause }) => {
    if (pause === null) return { value: 0, message: "Ingestion is not paused." };
    const { at, by, reason } = pause;
    const value = Math.max(0, now - Date.parse(at));
    const message = `Ingestion has been paused for ${describeDuration(value)}.`;
    return { value, message, evidence: { at, by, reason } };
  });
}

/** What waits: runs for their turn, and rows of history for D1. */
export function judgeBacklog(facts: Facts, context: RuleContext): readonly Finding[] {
  return [judgeQueue(facts, context), judgeOutbox(waitingRows(facts), context)];
}

/** How many runs wait for their turn; while paused they wait on purpose. */
export function judgeQueue({ ingest }: Input, { limits }: RuleContext): Finding {
  const labels = { queue: "ingest" };
  const measurement = { labels, threshold: limits.queueBacklogRuns, unit: "runs" } as const;
  return judgeInput(ingest, measurement, ({ queued, pause }) => {
    const depth = queued.length;
    const oldest = queued.map(({ queued_at }) => queued_at).toSorted()[0] ?? null;
    const evidence = { depth, paused: pause !== null, oldest_queued_at: oldest };
    return pause === null
      ? { value: depth, message: `${depth} runs wait.`, evidence }
      : { value: 0, message: `${depth} runs wait for resume.`, evidence };
  });
}

/** Rows that wait for D1, by the outbox in which they do. */
type WaitingRows = { readonly [outbox: string]: number };

/** What D1 refuses waits unseen, so it has to answer as well. */
function waitingRows({ ingest, history, monitor }: Facts): Reading<WaitingRows> {
  if (!history.ok) return history;
  if (!ingest.ok) return ingest;
  const value = { ingest_rows: ingest.value.outboxLength, alert_rows: monitor.outboxLength };
  return { ok: true, value };
}

/** How many rows wait for D1. */
export function judgeOutbox(rows: Reading<WaitingRows>, { limits }: RuleContext): Finding {
  const labels = { queue: "history" };
  const measurement = { labels, threshold: limits.outboxBacklogRows, unit: "rows" } as const;
  return judgeInput(rows, measurement, (waiting) => {
    const value = Object.values(waiting).reduce((sum, count) => sum + count, 0);
    return { value, message: `${value} rows wait for D1.`, evidence: waiting };
  });
}
