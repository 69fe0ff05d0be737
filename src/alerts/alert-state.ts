/**
 * The states of an alert. Pure: no clock, no I/O.
 *
 * `inactive → pending → firing → resolved → inactive`, and `nodata` from each of them while an input
 * is unreadable. An alert is raised when it fires or when its input has been unreadable for a while.
 * A raised alert resolves after two consecutive good evaluations.
 */
import type { Verdict } from "../health/rule.ts";

export const ALERT_STATES = ["inactive", "pending", "firing", "nodata", "resolved"] as const;
type AlertState = (typeof ALERT_STATES)[number];

/** Whether somebody should look: the alert fires, or its input is unreadable. */
export function needsAttention(state: AlertState): boolean {
  return state === "firing" || state === "nodata";
}

/** State of an alert between evaluations. Times are milliseconds since 1970. */
export interface AlertTrack {
  readonly state: AlertState;
  /** Time of the last state change. */
  readonly since: number;
  /** First bad finding since the last good one. */
  readonly badSince: number | null;
  /** First of the current findings without data. */
  readonly nodataSince: number | null;
  /** Consecutive good findings while raised. */
  readonly goods: number;
  /** Time of raising; null while not raised. */
  readonly raisedAt: number | null;
}

/** Consecutive good evaluations that resolve an alert. */
const GOODS_TO_RESOLVE = 2;
/** Two ticks, whose distance varies by seconds. A single failed read raises nothing. */
export const NODATA_FOR_MS = 4 * 60_000;

/** Returns the state of a new alert. */
export function newTrack(now: number): AlertTrack {
  return {
    state: "inactive",
    since: now,
    badSince: null,
    nodataSince: null,
    goods: 0,
    raisedAt: null,
  };
}

/** Returns the state after one more finding at `now`. */
export function nextTrack(
  track: AlertTrack,
  verdict: Verdict,
  { now, forMs }: { readonly now: number; readonly forMs: number },
): AlertTrack {
  const next = { bad: afterBad, good: afterGood, nodata: afterNodata }[verdict](track, now, forMs);
  return { ...next, since: next.state === track.state ? track.since : now };
}

function afterBad(track: AlertTrack, now: number, forMs: number): AlertTrack {
  const badSince = track.badSince ?? now;
  const seen = { ...track, badSince, nodataSince: null, goods: 0 };
  const fires = track.state === "firing" || now - badSince >= forMs;
  return fires
    ? { ...seen, state: "firing", raisedAt: track.raisedAt ?? now }
    : { ...seen, state: "pending" };
}

function afterNodata(track: AlertTrack, now: number): AlertTrack {
  const nodataSince = track.nodataSince ?? now;
  const raisedAt = track.raisedAt ?? (now - nodataSince >= NODATA_FOR_MS ? now : null);
  return { ...track, state: "nodata", nodataSince, goods: 0, raisedAt };
}

function afterGood(track: AlertTrack, now: number): AlertTrack {
  if (track.raisedAt === null) return newTrack(now);
  const goods = track.goods + 1;
  if (goods >= GOODS_TO_RESOLVE) return { ...newTrack(now), state: "resolved" };
  const badSince = track.state === "firing" ? track.badSince : null;
  return { ...track, goods, badSince, nodataSince: null };
}
