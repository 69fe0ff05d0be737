/** Health checks of the coordinator and the last runs. Pure. */
import { timeText } from "../storage/time-text.ts";
import type { CoordinatorFacts, EndedRun } from "./facts.ts";
import {
  judgeHeld,
  judgeOutbox,
  judgeQueue,
  judgeReplication,
  judgeStuck,
} from "./ingest-rules.ts";
import { judgeComparison } from "./catalog-rules.ts";
import { missedTicks } from "./missed-ticks.ts";
import type { RuleContext } from "./rule.ts";
import { type Check, type Checks, judged } from "./status.ts";

/** Status of the coordinator, including fields that the alerts do not read. */
export interface CoordinatorStatusFacts extends CoordinatorFacts {
  readonly pause: (CoordinatorFacts["pause"] & { readonly until: string | null }) | null;
  /** End of the lease of the current step (RFC 3339); null between steps. */
  readonly leaseUntil: string | null;
  /** Due time of the newest tick of each cron trigger (milliseconds since 1970). */
  readonly lastTicks: { readonly [cron: string]: number };
  /** Publication time of the oldest retained version (RFC 3339). */
  readonly oldestPublishedAt: string | null;
}

/** Checks the pause, the queue, the running run and the outbox. A pause only warns. */
export function checkCoordinator(status: CoordinatorStatusFacts, context: RuleContext): Checks {
  const { pause, queued, running, outboxLength, leaseUntil, current } = status;
  const input = { ingest: { ok: true, value: status } } as const;
  const outbox = { ok: true, value: { ingest_rows: outboxLength } } as const;
  const rows = { observedValue: outboxLength, observedUnit: "rows" };
  return {
    "ingest:paused": [checkPause(pause)],
    "ingest:held": [
      {
        ...judged(judgeHeld(input, context)),
        observedValue: status.held?.waiting ?? null,
        observedUnit: "changes",
      },
    ],
    "ingest:queue": [
      {
        ...judged(judgeQueue(input, context)),
        observedValue: queued.length,
        observedUnit: "runs",
      },
    ],
    "ingest:running": [
      {
        ...judged(judgeStuck(input, context), "fail"),
        observedValue: running === null ? null : `${running.id} ${running.stage}`,
      },
    ],
    "ingest:lease": [{ status: "pass", observedValue: leaseUntil }],
    "ingest:replication": [
      {
        ...judged(judgeReplication(input, context)),
        observedValue: current?.generation ?? null,
      },
    ],
    "ingest:outbox": [{ ...judged(judgeOutbox(outbox, context)), ...rows }],
  };
}

function checkPause(pause: CoordinatorStatusFacts["pause"]): Check {
  if (pause === null) return { status: "pass", observedValue: false };
  const { at, by, until, note } = pause;
  const end = until === null ? "" : ` until ${until}`;
  const why = note === null ? "" : `: ${note}`;
  return {
    status: "warn",
    observedValue: true,
    time: at,
    output: `paused by ${by}${end}${why}`,
  };
}

/** Checks that every cron trigger fired on time. */
export function checkCrons(
  { lastTicks, oldestPublishedAt }: CoordinatorStatusFacts,
  crons: readonly string[],
  now: number,
): Checks {
  const since = oldestPublishedAt === null ? null : Date.parse(oldestPublishedAt);
  const checks = crons.map((cron): Check => {
    const last = lastTicks[cron];
    const missed = missedTicks(cron, last ?? since, now);
    const time = last === undefined ? {} : { time: timeText(last) };
    if (missed === 0) return { status: "pass", observedValue: 0, observedUnit: "missed", ...time };
    const output = `${missed} ticks of "${cron}" were due and did not come`;
    return { status: "warn", observedValue: missed, observedUnit: "missed", ...time, output };
  });
  return { "cron:ticks": checks };
}

/** The last ended run and the last successful one. */
interface LastRunFacts {
  readonly ended: Pick<EndedRun, "id" | "state" | "outcome" | "finished_at" | "error"> | undefined;
  readonly succeeded: Pick<EndedRun, "finished_at"> | undefined;
}

/** Checks how the last run ended and when a run last succeeded. */
export function checkRuns({ ended, succeeded }: LastRunFacts, context: RuleContext): Checks {
  return {
    "ingest:lastRun": [
      ended === undefined ? { status: "pass", observedValue: null } : checkRun(ended),
    ],
    "ingest:lastSuccess": [checkSuccess(succeeded?.finished_at ?? null, context)],
  };
}

function checkRun({ id, state, outcome, finished_at, error }: NonNullable<LastRunFacts["ended"]>) {
  const observedValue = [state, outcome].filter((word) => word !== null).join(" ");
  const time = finished_at === null ? {} : { time: finished_at };
  if (state !== "failed") return { status: "pass", observedValue, ...time } as const;
  const output = `run ${id} failed: ${error?.code ?? "unknown"}`;
  return { status: "warn", observedValue, ...time, output } as const;
}

function checkSuccess(at: string | null, context: RuleContext): Check {
  if (at === null)
    return { status: "warn", observedValue: null, output: "no run has succeeded yet" };
  return {
    ...judged(judgeComparison(at, context)),
    observedValue: Math.round((context.now - Date.parse(at)) / 1000),
    observedUnit: "s",
    time: at,
  };
}
