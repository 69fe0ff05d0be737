/**
 * The states of an alert. Pure: no clock, no I/O.
 *
 * `inactive → pending → firing → resolved → inactive`, and `nodata` from each of them while an input
 * is unreadable. An alert is raised when it fires or when its input has been unreadable for a while.
 * A raised alert resolves after two consecutive good evaluations.
 */
import * as z from "zod";
import { count, type DeepReadonly } from "../schemas/fields.ts";
import type { FindingVerdict } from "./rule.ts";
import type { RuleFinding } from "./rules.ts";
import { increased } from "../platform/ranges.ts";
import { mostSevere } from "../schemas/check.ts";
import { storedTime } from "../storage/object-tables.ts";
import { durationOf, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import { ALERT_STATES, type AlertResult, type AlertState } from "../schemas/alert-run.ts";

/** Whether somebody should look: the alert fires, or its input is unreadable. */
export function needsAttention(state: AlertState): boolean {
  return state === "firing" || state === "nodata";
}

export const alertTrack = z.object({
  state: z.enum(ALERT_STATES),
  since: storedTime,
  /** First bad finding since the last good one. */
  badSince: storedTime.nullable(),
  /** First of the current findings without data. */
  nodataSince: storedTime.nullable(),
  /** Good findings in a row while raised. */
  consecutiveGood: count,
  /** Time of raising; null while not raised. */
  raisedAt: storedTime.nullable(),
});
export type AlertTrack = DeepReadonly<z.output<typeof alertTrack>>;

export interface AlertRecord {
  readonly track: AlertTrack;
  readonly last: AlertResult;
}

/** Consecutive good evaluations that resolve an alert. */
const GOOD_TO_RESOLVE = 2;
/** Two ticks, whose distance varies by seconds. A single failed read raises nothing. */
export const NODATA_FOR_MS = 4 * 60_000;

export function newTrack(now: EpochMs): AlertTrack {
  return {
    state: "inactive",
    since: now,
    badSince: null,
    nodataSince: null,
    consecutiveGood: 0,
    raisedAt: null,
  };
}

export function nextTrack(
  track: AlertTrack,
  verdict: FindingVerdict,
  { now, forMs }: { readonly now: EpochMs; readonly forMs: DurationMs },
): AlertTrack {
  const next = { bad: afterBad, good: afterGood, nodata: afterNodata }[verdict](track, now, forMs);
  return { ...next, since: next.state === track.state ? track.since : now };
}

function afterBad(track: AlertTrack, now: EpochMs, forMs: DurationMs): AlertTrack {
  const badSince = track.badSince ?? now;
  const seen = { ...track, badSince, nodataSince: null, consecutiveGood: 0 };
  const fires = track.state === "firing" || durationOf(badSince, now) >= forMs;
  return fires
    ? { ...seen, state: "firing", raisedAt: track.raisedAt ?? now }
    : { ...seen, state: "pending" };
}

function afterNodata(track: AlertTrack, now: EpochMs): AlertTrack {
  const nodataSince = track.nodataSince ?? now;
  const raisedAt = track.raisedAt ?? (durationOf(nodataSince, now) >= NODATA_FOR_MS ? now : null);
  return { ...track, state: "nodata", nodataSince, consecutiveGood: 0, raisedAt };
}

function afterGood(track: AlertTrack, now: EpochMs): AlertTrack {
  if (track.raisedAt === null) return newTrack(now);
  const consecutiveGood = increased(track.consecutiveGood);
  if (consecutiveGood >= GOOD_TO_RESOLVE) return { ...newTrack(now), state: "resolved" };
  const badSince = track.state === "firing" ? track.badSince : null;
  return { ...track, consecutiveGood, badSince, nodataSince: null };
}

export interface Evaluated {
  readonly record: AlertRecord;
  readonly result: AlertResult;
  /** Whether this evaluation raised or resolved it. */
  readonly transition: "raised" | "resolved" | null;
}

export function advanceAlert(
  known: AlertRecord | undefined,
  finding: RuleFinding,
  now: EpochMs,
): Evaluated {
  const { verdict, forMs, ...found } = finding;
  const before = known?.track ?? newTrack(now);
  const track = nextTrack(before, verdict, { now, forMs });
  const isRecovering = verdict === "good" && track.raisedAt !== null;
  const result: AlertResult = {
    ...found,
    // A raised alert ends under its last severity; receivers get those that they know.
    severity:
      known && verdict === "good" && before.raisedAt !== null
        ? known.last.severity
        : found.severity,
    message: isRecovering ? `Recovering: ${found.message}` : found.message,
    state: track.state,
    previous_state: before.state,
    since: timeText(track.since),
    notified: [],
  };
  return { record: { track, last: result }, result, transition: transitionOf(before, track) };
}

function transitionOf(before: AlertTrack, after: AlertTrack): Evaluated["transition"] {
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

export function summarizeResults(evaluated: readonly Evaluated[]) {
  const results = evaluated.map(({ result }) => result);
  const countOf = (is: (result: AlertResult) => boolean) => results.filter(is).length;
  const inState = (state: AlertResult["state"]) => countOf((result) => result.state === state);
  const transitions = (kind: "raised" | "resolved") =>
    evaluated.filter(({ transition }) => transition === kind).length;
  const isNew = ({ state, previous_state }: AlertResult) => state !== previous_state;
  return {
    worst: mostSevere(results.map(({ status }) => status)),
    rules_total: new Set(results.map(({ rule }) => rule)).size,
    pending: inState("pending"),
    firing: inState("firing"),
    nodata: inState("nodata"),
    fired: transitions("raised"),
    resolved: transitions("resolved"),
    suppressed: countOf(({ suppressed, state }) => suppressed && needsAttention(state)),
    changed: results.some(
      (result) =>
        isNew(result) && !(result.previous_state === "resolved" && result.state === "inactive"),
    ),
    results,
  };
}
