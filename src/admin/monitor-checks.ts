import type { CoordinatorStatus } from "../ingest/coordinator-status.ts";
import { missedTicks } from "./missed-ticks.ts";
import { QUEUE_MAX_DEPTH } from "../ingest/queue.ts";
import type { ListedRun, Run } from "../ingest/run.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";
import { CODINGS } from "../catalog/manifest.ts";
import type { History } from "../storage/history.ts";
import { withDeadline } from "../storage/deadline.ts";
import type { StoreProbes } from "../storage/probes.ts";
import { checkCatalog } from "./catalog-health-routes.ts";
import type { CoordinatorUseCases } from "./coordinator.ts";
import type { Check, Checks } from "./health.ts";
import type { MonitorCheck } from "./monitor-routes.ts";
import { findLastRuns, type LastRuns } from "./run-list.ts";

const STORE_DEADLINE_MS = 1_000;
const COORDINATOR_DEADLINE_MS = 2_000;
/** A run under way that has given no sign for this time is stuck. */
const STUCK_AFTER_MS = 10 * 60 * 1000;
/** Rows that may wait for D1 in passing. */
const OUTBOX_USUAL_ROWS = 20;

/** A store's round trip. */
export function storeChecks({ kv, d1, r2 }: StoreProbes): MonitorCheck[] {
  return Object.entries({ kv, d1, r2 }).map(([name, probe]) => ({
    name,
    deadlineMs: STORE_DEADLINE_MS,
    read: async () => {
      await probe();
      return {};
    },
  }));
}

/** Whether the catalog can be served. */
export function catalogCheck(
  reader: CatalogReader,
  { defaultLocale, now }: { readonly defaultLocale: string; readonly now: () => number },
): MonitorCheck {
  return {
    name: "catalog",
    deadlineMs: COORDINATOR_DEADLINE_MS,
    read: async () => {
      const caller = { signal: AbortSignal.timeout(COORDINATOR_DEADLINE_MS) };
      const current = await reader.current(caller);
      if (!current.ok) {
        const output = current.reason.replaceAll("_", " ");
        return { "catalog:present": [{ status: "fail", output }] };
      }
      const { manifest } = current;
      const opened = await reader.open(
        { manifest, locale: defaultLocale, representation: "proto", codings: CODINGS },
        caller,
      );
      return checkCatalog(manifest, { opened, defaultLocale, now: now() });
    },
  };
}

/** The coordinator: pause, queue, lease, what waits for the stores, and cron ticks. */
export function coordinatorCheck(
  coordinator: CoordinatorUseCases,
  { crons, now }: { readonly crons: readonly string[]; readonly now: () => number },
): MonitorCheck {
  return {
    name: "coordinator",
    deadlineMs: COORDINATOR_DEADLINE_MS,
    late: { status: "warn", output: "no answer in time; a step of a run may keep it busy" },
    read: async () => {
      const status = await coordinator.status();
      return { ...checkCoordinator(status, now()), ...checkCrons(status, crons, now()) };
    },
  };
}

/** The last run that ended, and the last that succeeded. */
export function lastRunsCheck(
  coordinator: CoordinatorUseCases,
  history: History,
  now: () => number,
): MonitorCheck {
  return {
    name: "ingest",
    deadlineMs: COORDINATOR_DEADLINE_MS,
    read: async () => {
      // Without what the coordinator knows, D1 alone tells of runs that ended a moment ago.
      const unsettled = await withDeadline(
        "coordinator",
        STORE_DEADLINE_MS,
        coordinator.unsettledRuns(),
      ).catch(() => []);
      return checkRuns(await findLastRuns(history, unsettled), now());
    },
  };
}

/** What the coordinator says of itself. A pause is a warning, never a failure. */
function checkCoordinator(status: CoordinatorStatus, now: number): Checks {
  const { pause, queued, running, replicated, outboxLength, leaseUntil, current } = status;
  const paused: Check =
    pause === null
      ? { status: "pass", observedValue: false }
      : {
          status: "warn",
          observedValue: true,
          time: pause.at,
          output: `paused by ${pause.by}${pause.until === null ? "" : ` until ${pause.until}`}${pause.reason === null ? "" : `: ${pause.reason}`}`,
        };
  const isFull = queued.length >= QUEUE_MAX_DEPTH;
  const generation = current?.generation ?? null;
  return {
    "ingest:paused": [paused],
    "ingest:queue": [
      {
        status: isFull ? "warn" : "pass",
        observedValue: queued.length,
        observedUnit: "runs",
        ...(isFull && { output: "the queue is full" }),
      },
    ],
    "ingest:running": [checkRunning(running, pause !== null, now)],
    "ingest:lease": [{ status: "pass", observedValue: leaseUntil }],
    "ingest:replication": [
      replicated
        ? { status: "pass", observedValue: generation }
        : { status: "warn", output: `the stores are still to show generation ${generation}` },
    ],
    "ingest:outbox": [
      {
        status: outboxLength > OUTBOX_USUAL_ROWS ? "warn" : "pass",
        observedValue: outboxLength,
        observedUnit: "rows",
        ...(outboxLength > OUTBOX_USUAL_ROWS && { output: "rows wait for D1" }),
      },
    ],
  };
}

function checkRunning(running: Run | null, isPaused: boolean, now: number): Check {
  if (running === null) return { status: "pass", observedValue: null };
  const { id, stage, heartbeatAt } = running;
  const silentMs = heartbeatAt === null ? 0 : now - Date.parse(heartbeatAt);
  if (!isPaused && silentMs > STUCK_AFTER_MS)
    return {
      status: "fail",
      output: `run ${id} has been silent in stage ${stage} for ${silentMs} ms`,
    };
  return { status: "pass", observedValue: `${id} ${stage}` };
}

/** Whether every cron trigger has fired when it was due. */
function checkCrons(
  { lastTicks, oldestPublishedAt }: CoordinatorStatus,
  crons: readonly string[],
  now: number,
): Checks {
  const since = oldestPublishedAt === null ? null : Date.parse(oldestPublishedAt);
  const checks = crons.map((cron): Check => {
    const last = lastTicks[cron];
    const missed = missedTicks(cron, last ?? since, now);
    const time = last === undefined ? {} : { time: new Date(last).toISOString() };
    if (missed === 0) return { status: "pass", observedValue: 0, observedUnit: "missed", ...time };
    const output = `${missed} ticks of "${cron}" were due and did not come`;
    return { status: "warn", observedValue: missed, observedUnit: "missed", ...time, output };
  });
  return { "cron:ticks": checks };
}

/** How the last run ended, and how long ago one succeeded. */
function checkRuns({ ended, succeeded }: LastRuns, now: number): Checks {
  const at = succeeded?.finishedAt ?? null;
  return {
    "ingest:lastRun": [ended === undefined ? NO_RUN : checkRun(ended)],
    "ingest:lastSuccess": [
      at === null
        ? { status: "warn", observedValue: null, output: "no run has succeeded yet" }
        : {
            status: "pass",
            observedValue: Math.round((now - Date.parse(at)) / 1000),
            observedUnit: "s",
            time: at,
          },
    ],
  };
}

const NO_RUN: Check = { status: "pass", observedValue: null };

function checkRun({ id, state, outcome, finishedAt, error }: ListedRun): Check {
  const observedValue = [state, outcome].filter((word) => word !== null).join(" ");
  const time = finishedAt === null ? {} : { time: finishedAt };
  if (state !== "failed") return { status: "pass", observedValue, ...time };
  const output = `run ${id} failed: ${error?.code ?? "unknown"}`;
  return { status: "warn", observedValue, ...time, output };
}
