import { formatDuration } from "../platform/durations.ts";
import { Cron } from "croner";
import type { Manifest } from "../parts/manifest.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import type { EndedRun } from "../schemas/run.ts";
import { TRANSIENT_FAULTS } from "../sources/source-error.ts";
import { DAY_MS, durationOf } from "../platform/time.ts";
import { type Finding, evaluateInput, measureAge, type RuleContext } from "./rule.ts";
import { type Facts, isOther, newestPublished } from "./facts.ts";

const RUNS_NAMED = 5;

type RunInput = Pick<Facts, "ingest">;

export function evaluateFailures({ ingest }: RunInput): Finding {
  return evaluateInput(ingest, ({ ended }) => {
    const failed = failuresInARow(ended);
    const value = failed.length;
    const [last] = failed;
    const runs = failed.slice(0, RUNS_NAMED).map(({ id, finished_at, error }) => ({
      id,
      finished_at,
      code: error?.code ?? null,
      message: error?.message ?? null,
    }));
    const evidence = { runs };
    if (last === undefined) return { value, message: "The last run succeeded.", evidence };
    const count = value === 1 ? "run has" : "runs in a row have";
    const { code = "no code", message: why = "no message" } = last.error ?? {};
    // The message of a guard starts with its name.
    const reason = why.startsWith(`${code}: `) ? why : `${code}: ${why}`;
    return { value, message: `${value} ${count} failed, the last with ${reason}`, evidence };
  });
}

/** Whether a run shows that ingestion works or fails. Foreign stores have a separate rule. */
function decisive({ state, mode, error }: EndedRun): boolean {
  if (mode === "dry_run" || error?.code === "foreign_stores") return false;
  return state === "succeeded" || state === "failed";
}

function failuresInARow(ended: readonly EndedRun[]): readonly EndedRun[] {
  const runs = ended.filter(decisive);
  const success = runs.findIndex(({ state }) => state === "succeeded");
  return success === -1 ? runs : runs.slice(0, success);
}

/** Evaluates whether the last run failed because of upstream data that no retry fixes. */
export function evaluateSource({ ingest }: RunInput): Finding {
  return evaluateInput(ingest, ({ ended }) => {
    const last = ended.find(decisive);
    if (last?.state !== "failed" || last.error === null || !isFinal(last.error.code))
      return { value: 0, message: "Upstream can be used." };
    const { id, error } = last;
    const message = `Upstream is unusable until somebody fixes it or the settings: ${error.code}: ${error.message}`;
    return { value: 1, message, evidence: { run_id: id } };
  });
}

/** Whether a code names a fault of upstream that no retry fixes. */
function isFinal(code: string): boolean {
  return (
    code.startsWith("source_") && !TRANSIENT_FAULTS.some((fault) => code === `source_${fault}`)
  );
}

/**
 * Evaluates how long the active job, or the next run, has made no progress. A silent coordinator shows
 * no progress, so a long silence fails as well.
 */
export function evaluateStuck(
  { ingest, monitor: { silentSince } }: Pick<Facts, "ingest" | "monitor">,
  { now, limits }: RuleContext,
): Finding {
  if (!ingest.ok && now - silentSince >= limits.ingestStuckMs)
    return measureAge(
      silentSince,
      now,
      (age) => `There has been no progress for ${age}: ${ingest.why}.`,
    );
  return evaluateInput(ingest, (coordinator) => {
    const work = expectedWork(coordinator);
    if (work === null || Date.parse(work.since) > now)
      return { value: 0, message: "Nothing is stuck." };
    const { name, since, what, evidence } = work;
    const found = measureAge(since, now, (age) => `${name} has been ${what} for ${age}.`);
    return { ...found, evidence };
  });
}

const JOB_NAMES = { run: "Backup", verify: "Verification", restore: "Restore" } as const;

/**
 * Finds what should make progress, and the time of its last progress: a backup job also during a
 * pause. Ignores paused runs, runs behind another job, and a retry before its start time.
 */
function expectedWork({ pause, running, job, queued, nextDueAt }: CoordinatorStatus) {
  if (job !== null && job.heartbeat_at !== null) {
    const name = `${JOB_NAMES[job.kind]} ${job.id}`;
    const what = `in stage ${job.stage} without a heartbeat`;
    const evidence = { job_id: job.id };
    return { name, evidence, since: job.heartbeat_at, what };
  }
  if (pause !== null) return null;
  if (running !== null && running.heartbeat_at !== null) {
    const what = `in stage ${running.stage} without a heartbeat`;
    const since = running.heartbeat_at;
    const evidence = { run_id: running.id };
    return { name: `Run ${running.id}`, evidence, since, what };
  }
  const [next] = queued;
  if (running !== null || next === undefined) return null;
  const since = nextDueAt ?? next.queued_at;
  const what = "waiting though nothing runs";
  const evidence = { run_id: next.id };
  return { name: `Run ${next.id}`, evidence, since, what };
}

/** Evaluates how long the stores have lagged. The heartbeat hides this: each attempt refreshes it. */
export function evaluateReplication({ ingest }: RunInput, { now }: RuleContext): Finding {
  return evaluateInput(ingest, ({ current, replicated }) => {
    if (current === null || replicated)
      return { value: 0, message: "The stores show the published version." };
    const { generation, published_at } = current;
    return measureAge(
      published_at,
      now,
      (age) =>
        `Generation ${generation} was published ${age} ago, and the stores do not show it yet.`,
    );
  });
}

/**
 * Evaluates whether the stores belong to another installation or a newer Worker, by the manifest in R2,
 * which no cache delays. The coordinator looks every five minutes; until then, the stores are the
 * evidence.
 */
export function evaluateStores({ ingest, catalog }: Pick<Facts, "ingest" | "catalog">): Finding {
  return evaluateInput(ingest, ({ foreign, current }) => {
    const inR2 = catalog.r2.ok ? catalog.r2.value : undefined;
    const shown = current === null ? newestPublished(catalog) : inR2;
    const problem = foreign ?? findUnknown(current, shown ?? null);
    return problem === null
      ? { value: 0, message: "The stores belong to this installation." }
      : { value: 1, message: `Nothing is published and nothing deleted: ${problem}` };
  });
}

/** Names the version in the stores that is not the coordinator's; null if none is known. */
function findUnknown(current: CoordinatorStatus["current"], shown: Manifest | null): string | null {
  if (shown === null) return null;
  const { generation } = shown;
  if (current === null)
    return `the stores have version ${generation}, and the coordinator has none: it has lost its state, or they are of another installation. If no other uses them, call POST /admin/catalog/take-over.`;
  return isOther(shown, current)
    ? `R2 has another version ${generation} than this installation has published. Give this one a bucket of its own; or call POST /admin/catalog/take-over, if the other no longer runs.`
    : null;
}

export function evaluateGuards({ ingest }: RunInput): Finding {
  return evaluateInput(ingest, ({ ended }) => {
    const refused = refusedRun(ended);
    if (refused === undefined) return { value: 0, message: "No guard refuses a candidate." };
    const guards = refused.guards.map(({ guard, message }) => ({ guard, message }));
    const reasons = guards.map(({ guard, message }) => `${guard}: ${message}`).join("; ");
    const evidence = { run_id: refused.id, guards };
    return { value: guards.length, message: `Run ${refused.id} was refused: ${reasons}`, evidence };
  });
}

/** Returns the last run with a guard verdict, if the guards refused it. Ignores other failures. */
function refusedRun(ended: readonly EndedRun[]): EndedRun | undefined {
  const evaluated = ended
    .filter(decisive)
    .find(({ state, guards }) => state === "succeeded" || guards.length > 0);
  return evaluated?.state === "failed" ? evaluated : undefined;
}

/** Evaluates the largest group of rows that the last run could not use. Their airports stay as they were. */
export function evaluateUnusable({ ingest }: RunInput): Finding {
  return evaluateInput(ingest, ({ held }) => {
    const groups = held?.unusable ?? [];
    const [largest] = groups;
    if (largest === undefined) return { value: 0, message: "Few rows of upstream are unusable." };
    const named = groups.map(({ of, name, rows }) =>
      of === "country" ? `${rows} of airports in ${name}` : `${rows} of ${of} (${name})`,
    );
    const message = `Upstream's last file has unusable rows: ${named.join(", ")}. Its airports stay as they are.`;
    return { value: largest.rows, message };
  });
}

/** Evaluates how long the oldest marked change by upstream has waited for a decision. */
export function evaluateHeld({ ingest }: RunInput, { now }: RuleContext): Finding {
  return evaluateInput(ingest, ({ held }) => {
    if (held === null || held.oldest_since === null)
      return { value: 0, message: "No change by upstream waits." };
    const { waiting, oldest_since } = held;
    const changes = waiting === 1 ? "One change" : `${waiting} changes`;
    return measureAge(
      oldest_since,
      now,
      (age) =>
        `${changes} by upstream ${waiting === 1 ? "waits" : "wait"} for a decision, the oldest for ${age}. Approve or reject them; otherwise a run accepts each once upstream has said the same for long enough.`,
    );
  });
}

/** Evaluates whether the last run has found the ledger in R2. */
export function evaluateLedger({ ingest }: RunInput): Finding {
  return evaluateInput(ingest, ({ held }) =>
    held?.ledger_lost === true
      ? {
          value: 1,
          message:
            "R2 had lost the ledger, so the last run started from an earlier version or from the snapshot. Restore a backup from before the loss.",
        }
      : { value: 0, message: "The last run found the ledger." },
  );
}

/** Time for which a loss of history stays a finding, unless a restore ends it. Nothing restores the audit. */
const HISTORY_LOSS_SHOWN_MS = 7 * DAY_MS;

/** Evaluates whether D1 has lost rows or tables, as far as the coordinator can be read. */
export function evaluateHistory({ ingest }: RunInput, { now }: RuleContext): Finding {
  return evaluateInput(ingest, ({ historyLostAt }) => {
    const age = historyLostAt === null ? Infinity : durationOf(historyLostAt, now);
    if (age >= HISTORY_LOSS_SHOWN_MS) return { value: 0, message: "D1 has every run." };
    const message = `D1 had lost rows ${formatDuration(age)} ago. Restore a backup from before to get them back, except the audit.`;
    return { value: 1, message };
  });
}

/** Evaluates the length of a pause, which may be forgotten. */
export function evaluatePause({ ingest }: RunInput, { now }: RuleContext): Finding {
  return evaluateInput(ingest, ({ pause }) => {
    if (pause === null) return { value: 0, message: "Ingestion is not paused." };
    const { at, by, note } = pause;
    const found = measureAge(at, now, (age) => `Ingestion has been paused for ${age}.`);
    return { ...found, evidence: { at, by, note } };
  });
}

export function evaluateBacklog(facts: Facts): readonly Finding[] {
  return [evaluateQueue(facts), evaluateOutboxes(facts)];
}

/** Evaluates the number of queued runs. While paused they wait on purpose. */
function evaluateQueue({ ingest }: RunInput): Finding {
  const found = evaluateInput(ingest, ({ queued: { length: depth }, pause }) =>
    pause === null
      ? { value: depth, message: `${depth} runs wait.` }
      : { value: 0, message: `${depth} runs wait for resume.` },
  );
  return { ...found, labels: { queue: "ingest" } };
}

/** Number of rows waiting for D1 that is a backlog. */
const OUTBOX_ROWS = 6;

/** Evaluates the rows that wait for D1. They can wait unseen while D1 fails, so it must answer. */
function evaluateOutboxes({ ingest, history, monitor }: Facts): Finding {
  const found = evaluateInput(history.ok ? ingest : history, ({ outboxLength }) => {
    const value = outboxLength + monitor.outboxLength;
    return { value, message: `${value} rows wait for D1.` };
  });
  return { ...found, labels: { queue: "history" }, threshold: OUTBOX_ROWS, unit: "rows" };
}

const TICK_GRACE_MS = 15 * 60 * 1000;
/** Maximum number of missed ticks that are counted for each trigger. */
const TICKS_COUNTED = 100;

/** Counts the due ticks that did not come, from the first publication on. */
export function evaluateTicks({ ingest, monitor }: Facts, { now }: RuleContext): Finding {
  return evaluateInput(ingest, (coordinator) => {
    const { lastTicks, oldestPublishedAt } = coordinator;
    const published = oldestPublishedAt === null ? now : Date.parse(oldestPublishedAt);
    // A publication dated in the future excuses no tick.
    const firstDueAfter = published > now ? monitor.since : published;
    const triggers = monitor.crons.map((cron) => {
      const after = lastTicks[cron] ?? firstDueAfter;
      const due = new Cron(cron, { timezone: "UTC", paused: true })
        .previousRuns(TICKS_COUNTED, new Date(now - TICK_GRACE_MS))
        .filter((time) => time.getTime() > after);
      return { cron, missed: due.length };
    });
    const late = triggers.filter(({ missed }) => missed > 0);
    const sentences = late.map(
      ({ cron, missed }) =>
        `${missed === 1 ? "1 tick" : `${missed} ticks`} of "${cron}" did not come when due.`,
    );
    return {
      value: late.reduce((sum, { missed }) => sum + missed, 0),
      message: sentences.join(" ") || "Every tick came.",
    };
  });
}
