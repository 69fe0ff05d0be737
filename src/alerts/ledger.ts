/**
 * Who was told what: one entry for each target and alert. Pure: no clock, no I/O.
 *
 * What is owed follows from the alert's state and from what was delivered, so a delivery that
 * failed is owed again at the next evaluation, and one that succeeded never is.
 */
import { type AlertTrack, needsAttention } from "./alert-state.ts";

/** What a message says of an alert. */
export const CHANGES = ["fired", "nodata", "repeated", "resolved"] as const;
export type Change = (typeof CHANGES)[number];

/** What a target has been told of an alert. Times are milliseconds since 1970. */
export interface Told {
  /** When the alert was raised that it was told of last. */
  readonly raisedAt: number;
  /** Whether it was told of the alert, and not yet that it is resolved. */
  readonly isOpen: boolean;
  /** When it was last told that the alert fires, and that it has no data. */
  readonly firedAt: number | null;
  readonly nodataAt: number | null;
  /** Whether it was told so since the alert was last resolved. */
  readonly saidFired: boolean;
  readonly saidNodata: boolean;
}

export interface LedgerContext {
  readonly now: number;
  /** A target is told at most once in this time that an alert fires, and that it has no data. */
  readonly repeatMs: number;
  /** Whether nobody is to be told that the alert is raised. */
  readonly suppressed: boolean;
}

/** What a target still has to be told; null if nothing. */
export function owedChange(
  track: AlertTrack,
  told: Told | null,
  { now, repeatMs, suppressed }: LedgerContext,
): Change | null {
  if (track.raisedAt === null) return told?.isOpen === true ? "resolved" : null;
  // What is just getting well may be over at the next evaluation.
  if (suppressed || track.goods > 0) return null;
  if (!needsAttention(track.state)) return null;
  const lastAt = lastToldAt(track, told);
  if (lastAt !== null && now - lastAt < repeatMs) return null;
  const isFiring = track.state === "firing";
  const saidSo = told?.isOpen === true && (isFiring ? told.saidFired : told.saidNodata);
  if (saidSo) return "repeated";
  return isFiring ? "fired" : "nodata";
}

/** When a target was last told that the alert is in the state in which it is; null if never. */
export function lastToldAt({ state }: AlertTrack, told: Told | null): number | null {
  return (state === "firing" ? told?.firedAt : told?.nodataAt) ?? null;
}

/** The entry after a message was delivered. */
export function afterDelivery(
  track: AlertTrack,
  told: Told | null,
  { change, now }: { readonly change: Change; readonly now: number },
): Told {
  const before = told ?? NOTHING_TOLD;
  if (change === "resolved")
    return { ...before, isOpen: false, saidFired: false, saidNodata: false };
  const isFiring = track.state === "firing";
  return {
    raisedAt: before.isOpen ? before.raisedAt : (track.raisedAt ?? now),
    isOpen: true,
    firedAt: isFiring ? now : before.firedAt,
    nodataAt: isFiring ? before.nodataAt : now,
    saidFired: before.saidFired || isFiring,
    saidNodata: before.saidNodata || !isFiring,
  };
}

const NOTHING_TOLD: Told = {
  raisedAt: 0,
  isOpen: false,
  firedAt: null,
  nodataAt: null,
  saidFired: false,
  saidNodata: false,
};

/** When a target may be told again that an alert fires; null if it may at once. */
export function quietUntil(
  told: Told | null,
  { now, repeatMs }: Pick<LedgerContext, "now" | "repeatMs">,
): number | null {
  const until = (told?.firedAt ?? -Infinity) + repeatMs;
  return until > now ? until : null;
}
