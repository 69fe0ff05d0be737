import { timeText } from "../storage/time.ts";
import type { HeldSummary } from "../ingest/accounting.ts";
import type { CoordinatorState } from "./state.ts";
import type { EndedRun, Run } from "./run.ts";
import { isRun } from "./run-queue.ts";
import { bestCoverage, describeVersion, type Version } from "./versions.ts";
import { isOpen } from "./job-record.ts";
import { hasEnded, type Pause } from "./pause.ts";
import { dueSince } from "./queue.ts";

/** The coordinator's present state. */
export interface CoordinatorStatus {
  readonly pause: Pause | null;
  readonly running: Run | null;
  /** Whether a job other than a run is under way: runs wait for it. */
  readonly isJobUnderWay: boolean;
  /** In starting order. */
  readonly queued: readonly Run[];
  /** Earliest start of the first queued run (RFC 3339); null if none is queued. */
  readonly nextDueAt: string | null;
  /** The retained ended runs, newest first. */
  readonly ended: readonly EndedRun[];
  readonly current: Version | null;
  /** Whether the stores show the current version. */
  readonly replicated: boolean;
  /** Number of rows that wait for D1. */
  readonly outboxLength: number;
  /** The changes by upstream that wait; null before the first run, and after a rollback. */
  readonly held: HeldSummary | null;
  /** End of the claim of the present step (RFC 3339); null between two steps. */
  readonly leaseUntil: string | null;
  /** Scheduled time of the newest tick of each cron trigger (milliseconds since 1970). */
  readonly lastTicks: { readonly [cron: string]: number };
  /** Highest coverage (0 to 1) of each locale in the retained versions. */
  readonly bestCoverage: { readonly [locale: string]: number };
  /** Publication time of the oldest retained version (RFC 3339). */
  readonly oldestPublishedAt: string | null;
}

/** @param now milliseconds since 1970. */
export function describeStatus(state: CoordinatorState, now: number): CoordinatorStatus {
  const queue = state.queue();
  const versions = state.versions();
  const { pause } = queue;
  const running = queue.running.find(isRun);
  const waiting = queue.waiting.filter(isRun);
  const [next] = waiting;
  const [current = null] = versions;
  const isPaused = pause !== null && !hasEnded(pause, now);
  return {
    pause: isPaused ? pause : null,
    running: running?.job ?? null,
    isJobUnderWay: queue.running.some((record) => !isRun(record)),
    queued: waiting.map(({ job }) => job),
    nextDueAt: next === undefined ? null : timeText(dueSince(next)),
    ended: state
      .runs()
      .filter(({ state: at }) => !isOpen(at))
      .map(summarise),
    current: current && describeVersion(current, versions),
    replicated: state.unreplicated() === null,
    outboxLength: state.history.length + state.audit.length,
    held: state.presentLedger()?.held_changes ?? null,
    leaseUntil: running?.leaseUntil ? timeText(running.leaseUntil) : null,
    lastTicks: state.ticks.newest(now),
    bestCoverage: bestCoverage(versions),
    oldestPublishedAt: versions.at(-1)?.published_at ?? null,
  };
}

function summarise(run: Run): EndedRun {
  const { id, state, outcome, trigger, mode, finished_at, duration_ms, error, guards } = run;
  return { id, state, outcome, trigger, mode, finished_at, duration_ms, error, guards };
}
