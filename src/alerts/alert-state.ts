/**
 * The states of an alert. Pure: no clock, no I/O.
 *
 * `inactive → pending → firing → resolved → inactive`, and `nodata` from each of them while an input
 * cannot be read. An alert is raised when it fires, or when its input could not be read for a
 * while; what is raised resolves after two good evaluations in a row, and not before.
 */
import type { Verdict } from "../health/rule.ts";

export const ALERT_STATES = ["inactive", "pending", "firing", "nodata", "resolved"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** What is remembered of an alert between two evaluations. Times are milliseconds since 1970. */
export interface AlertTrack {
  readonly state: AlertState;
  /** When it came into this state. */
  readonly since: number;
  /** First of the bad findings that no good one has followed. */
  readonly badSince: number | null;
  /** First of the present findings without data. */
  readonly nodataSince: number | null;
  /** Good findings in a row, while it is raised. */
  readonly goods: number;
  /** When it was raised; null while it is not. */
  readonly raisedAt: number | null;
}

/** Good evaluations in a row after which an alert is resolved. */
const GOODS_TO_RESOLVE = 2;
/** Two ticks, whose distance varies by seconds: an input that fails once is shown, not raised. */
export const NODATA_FOR_MS = 4 * 60_000;

/** An alert that was never seen before. */
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

/** The alert after one more finding, which arrived at `now`. */
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
