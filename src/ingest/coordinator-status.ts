import type { CoordinatorState } from "./coordinator-state.ts";
import { hasEnded, type Pause } from "./pause.ts";
import { dueSince } from "./queue.ts";
import type { EndedRun, Run } from "./run.ts";
import { describeVersion, type Version } from "./versions.ts";

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
  /** When the oldest retained version was published (RFC 3339). */
  readonly oldestPublishedAt: string | null;
}

/** @param now milliseconds since 1970. */
export function describeStatus(state: CoordinatorState, now: number): CoordinatorStatus {
  const { waiting, running, pause } = state.queue();
  const [next] = waiting;
  const current = state.currentVersion();
  const isPaused = pause !== null && !hasEnded(pause, now);
  return {
    pause: isPaused ? pause : null,
    running: running?.run ?? null,
    stageSince: running?.stageSince ? new Date(running.stageSince).toISOString() : null,
    queued: waiting.map(({ run }) => run),
    nextDueAt: next === undefined ? null : new Date(dueSince(next)).toISOString(),
    ended: state.endedRuns(),
    current: current && describeVersion(current, current.generation),
    replicated: state.unreplicated() === null,
    outboxLength: state.outboxLength() + state.auditLength(),
    leaseUntil: running?.leaseUntil ? new Date(running.leaseUntil).toISOString() : null,
    lastTicks: state.lastTicks(),
    oldestPublishedAt: state.versions().at(-1)?.published_at ?? null,
  };
}
