/** Turns findings into results. Pure: no clock, no I/O. */
import type { RuleFinding } from "../health/rules.ts";
import type { HealthStatus } from "../health/check.ts";
import { timeText } from "../storage/time.ts";
import type { AlertResult } from "./alert-run.ts";
import { type AlertTrack, needsAttention, newTrack, nextTrack } from "./alert-state.ts";
import type { AlertRecord } from "./monitor-state.ts";

/** An alert at one evaluation. */
export interface Evaluated {
  readonly record: AlertRecord;
  readonly result: AlertResult;
  /** Whether this evaluation raised or resolved it. */
  readonly turn: "raised" | "resolved" | null;
}

/** Advances an alert by one finding. */
export function step(known: AlertRecord | undefined, finding: RuleFinding, now: number): Evaluated {
  const { verdict, forMs, ...found } = finding;
  const before = known?.track ?? newTrack(now);
  const track = nextTrack(before, verdict, { now, forMs });
  const isRecovering = verdict === "good" && track.raisedAt !== null;
  const result: AlertResult = {
    ...found,
    message: isRecovering ? `Recovering: ${found.message}` : found.message,
    state: track.state,
    previous_state: before.state,
    since: timeText(track.since),
    notified: [],
  };
  return { record: { track, last: result }, result, turn: turnOf(before, track) };
}

function turnOf(before: AlertTrack, after: AlertTrack): Evaluated["turn"] {
  const [was, is] = [before, after].map(({ raisedAt }) => raisedAt !== null);
  if (was === is) return null;
  return is ? "raised" : "resolved";
}

/** Builds a good finding for an alert whose subject is no longer configured. */
export function noLongerWatched({ last }: AlertRecord): RuleFinding {
  const message = "It is no longer watched.";
  const nothing = { value: null, evidence: {}, suppressed: false, status: "pass" } as const;
  return { ...last, ...nothing, message, forMs: 0, verdict: "good" };
}

/** Sums up the results of an evaluation. */
export function summarize(evaluated: readonly Evaluated[]) {
  const results = evaluated.map(({ result }) => result);
  const count = (is: (result: AlertResult) => boolean) => results.filter(is).length;
  const inState = (state: AlertResult["state"]) => count((result) => result.state === state);
  const turned = (what: Evaluated["turn"]) => evaluated.filter(({ turn }) => turn === what).length;
  const isNew = ({ state, previous_state }: AlertResult) => state !== previous_state;
  return {
    worst: worstOf(results),
    rules_total: new Set(results.map(({ rule }) => rule)).size,
    pending: inState("pending"),
    firing: inState("firing"),
    nodata: inState("nodata"),
    fired: turned("raised"),
    resolved: turned("resolved"),
    suppressed: count(({ suppressed, state }) => suppressed && needsAttention(state)),
    changed: results.some(
      (result) =>
        isNew(result) && !(result.previous_state === "resolved" && result.state === "inactive"),
    ),
    results,
  };
}

/** Returns the worst severity. An unreadable input never passes. */
function worstOf(results: readonly AlertResult[]): HealthStatus {
  const bad = results.filter(({ state }) => needsAttention(state));
  if (bad.some(({ severity, suppressed }) => severity === "fail" && !suppressed)) return "fail";
  return bad.length > 0 ? "warn" : "pass";
}
