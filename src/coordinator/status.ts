import type { CoordinatorState } from "../ingest/coordinator-state.ts";
import type { EndedRun, Run } from "../ingest/run.ts";
import { isRun } from "../ingest/run-record.ts";
import { bestCoverage, describeVersion, type Version } from "../ingest/versions.ts";
import { isOpen } from "../jobs/job-record.ts";
import { hasEnded, type Pause } from "../jobs/pause.ts";
import { dueSince } from "../jobs/queue.ts";

/** What the coordinator holds at present. */
export interface CoordinatorStatus {
  readonly pause: Pause | null;
  readonly running: Run | null;
  /** Since when the run under way is in its present stage (RFC 3339); null if none is. */
  readonly stageSince: string | null;
  /** In the order of their turns. */
  readonly queued: readonly Run[];
  /** Since when, or from when on, the first of them may start (RFC 3339); null if none waits. */
  readonly nextDueAt: string | null;
  /** The runs that ended last and are remembered, newest first. */
  readonly ended: readonly EndedRun[];
  readonly current: Version | null;
  /** Whether the stores show the current version. */
  readonly replicated: boolean;
  /** Rows that wait for D1. */
  readonly outboxLength: number;
  /** Until when the present step is claimed (RFC 3339); null between two steps. */
  readonly leaseUntil: string | null;
  /** When the newest tick of each cron trigger was due (milliseconds since 1970). */
  readonly lastTicks: { readonly [cron: string]: number };
  /** The highest coverage (0 to 1) of each locale in the retained versions. */
  readonly bestCoverage: { readonly [locale: string]: number };
  /** When the oldest retained version was published (RFC 3339). */
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
    stageSince: running?.stageSince ? new Date(running.stageSince).toISOString() : null,
    queued: waiting.map(({ job }) => job),
    nextDueAt: next === undefined ? null : new Date(dueSince(next)).toISOString(),
    ended: state
      .runs()
      .filter(({ state: at }) => !isOpen(at))
      .map(summarise),
    current: current && describeVersion(current, current.generation),
    replicated: state.unreplicated() === null,
    outboxLength: state.history.length + state.audit.length,
    leaseUntil: running?.leaseUntil ? new Date(running.leaseUntil).toISOString() : null,
    lastTicks: state.ticks.newest(),
    bestCoverage: bestCoverage(versions),
    oldestPublishedAt: versions.at(-1)?.published_at ?? null,
  };
}

function summarise(run: Run): EndedRun {
  const { id, state, outcome, trigger, mode, finished_at, error, guards } = run;
  return { id, state, outcome, trigger, mode, finished_at, error, guards };
}
