/** Holds changes until upstream has said the same for long enough. Pure: no clock, no I/O. */
import { sha256Hex } from "../catalog/bytes.ts";
import type { Correction } from "../catalog/source-airport.ts";
import { durationOf, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { Ledger } from "./airport.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import type { HeldRule } from "../schemas/held-rules.ts";
import { byChange, type Decision, GAP_MS, isDue, isUnbroken, withDecision } from "./decisions.ts";

/** Hexadecimal digits at the end of a change's id. */
const ID_HASH_LENGTH = 16;

export interface AcceptRun {
  readonly ledger: Ledger;
  readonly corrections: readonly Correction[];
  readonly decisions: readonly Decision[];
  /** Time for which upstream must say the same. */
  readonly holdMs: DurationMs;
  readonly now: EpochMs;
  /** The end times of earlier runs and publications, by clocks that may have been wrong. */
  readonly recorded?: readonly EpochMs[] | undefined;
  /** The time of this run; later than `now` if the clock was set back. */
  readonly seenAt?: EpochMs;
  readonly runId: string;
  readonly source: string;
}

export interface Subject extends Pick<
  HeldChange,
  "id" | "airport" | "iata" | "name" | "before" | "after"
> {
  /** Whether upstream has no row of the airport. */
  readonly isMissing?: boolean;
}

/** Returns the function that makes a held change, with its history from earlier runs. */
export function holdFor(run: AcceptRun) {
  const { ledger, decisions, holdMs, now, seenAt = now, runId, source } = run;
  const verdicts = byChange(decisions);
  const at = timeText(seenAt);
  // If the clock was set back, the next run is no later than this, or restarts the wait.
  const from = timeText(seenAt > now ? seenAt + GAP_MS : seenAt);
  const known = new Map(ledger.held.map((held) => [held.id, held]));
  const waiting = ledger.held.filter((held) => held.state === "waiting" && held.source === source);
  const differing = new Map(waiting.map((held) => [entityOf(held), held]));
  const ifUnbroken = (held: HeldChange | undefined) =>
    held !== undefined && isUnbroken(held, seenAt) ? held : undefined;
  return (
    subject: Subject,
    rules: readonly HeldRule[],
    state: "waiting" | "corrected" = "waiting",
  ): HeldChange => {
    const { id, airport, iata, name, before, after, isMissing = false } = subject;
    const found = known.get(id);
    // When a correction ends, the difference that it hid is a new change.
    const same = (found?.state === "corrected") === (state === "corrected") ? found : undefined;
    const wanted_since = ifUnbroken(same)?.wanted_since ?? from;
    const since = (ifUnbroken(same) ?? ifUnbroken(differing.get(entityOf(subject))))?.since ?? from;
    const isDisputed = wanted_since !== since && durationOf(since, now) >= 2 * holdMs;
    const present = same?.state ?? state;
    const waits = present === "waiting" ? waitMs(rules, isMissing, holdMs) : Infinity;
    const held: HeldChange = {
      id,
      state: present,
      airport,
      iata,
      name,
      rules: isDisputed ? [...rules, "disputed"] : rules,
      before,
      after,
      since,
      wanted_since,
      due_at: waits === Infinity ? null : timeText(Date.parse(wanted_since) + waits),
      last_seen: at,
      run_id: same?.run_id ?? runId,
      // Only the decision's source can end it.
      source: same === undefined || same.state === "waiting" ? source : same.source,
      decided_by: same?.decided_by ?? null,
      decided_at: same?.decided_at ?? null,
      note: same?.note ?? null,
    };
    return withDecision(held, verdicts);
  };
}

/** Names a change by its subject and its content. The hash is long enough that nobody can forge an equal id. */
export function heldId(entity: string, wanted: unknown): string {
  return `${entity}-${sha256Hex(JSON.stringify(wanted)).slice(0, ID_HASH_LENGTH)}`;
}

/** Id of the airport or subdivision that changes. */
function entityOf({ id }: Pick<HeldChange, "id">): string {
  return id.slice(0, -1 - ID_HASH_LENGTH);
}

/** A probable mistake waits this many times as long. */
const SLOW_FACTOR = 10;

/**
 * Returns for how long upstream must say the same. Upstream marks closed airports as closed, so a
 * missing row is probably a mistake, as is a whole list of lost services. Only an operator accepts an
 * obscene name.
 */
function waitMs(rules: readonly HeldRule[], isMissing: boolean, holdMs: DurationMs): DurationMs {
  if (rules.includes("obscene")) return Infinity;
  return isMissing || rules.includes("service_lost") ? SLOW_FACTOR * holdMs : holdMs;
}

export function isFree(held: HeldChange, now: EpochMs): boolean {
  switch (held.state) {
    case "approved":
      return true;
    case "rejected":
    case "corrected":
      return false;
    case "waiting":
      return isDue(held, now);
    default:
      return held.state satisfies never;
  }
}
