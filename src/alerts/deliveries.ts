/**
 * What was delivered to whom: one record for each target and alert. Pure: no clock, no I/O.
 *
 * What is due follows from the alert's state and from what was delivered. A delivery that failed is
 * therefore due again at the next evaluation, in the same message, and one that succeeded never is.
 */
import { sha256Hex } from "../catalog/hash.ts";
import { needsAttention } from "../health/alert-checks.ts";
import type { AlertTrack } from "./alert-state.ts";

/** What a message says of an alert. */
export const CHANGES = ["fired", "nodata", "repeated", "resolved"] as const;
export type Change = (typeof CHANGES)[number];

/** What was delivered to a target of an alert. Times are milliseconds since 1970. */
export interface DeliveryRecord {
  /** Whether the target knows that the alert is raised, and not yet that it is resolved. */
  readonly isOpen: boolean;
  /** When the alert was raised that the target knows of. */
  readonly raisedAt: number;
  /** When a message about it was last delivered. */
  readonly deliveredAt: number;
  /** Whether the target knows that it fires, and that it has no data, since it was raised. */
  readonly saidFired: boolean;
  readonly saidNodata: boolean;
}

export interface DeliveryContext {
  readonly now: number;
  /** Time after which an alert that stays open is repeated. */
  readonly repeatMs: number;
  /** Whether nobody is to be notified that the alert is raised. */
  readonly suppressed: boolean;
}

/** What a target is to be notified of; null if of nothing. */
export function dueChange(
  track: AlertTrack,
  record: DeliveryRecord | null,
  { now, repeatMs, suppressed }: DeliveryContext,
): Change | null {
  const open = record?.isOpen === true ? record : null;
  if (track.raisedAt === null) return open === null ? null : "resolved";
  // What is just getting well may be over at the next evaluation.
  if (suppressed || track.goods > 0 || !needsAttention(track.state)) return null;
  const isFiring = track.state === "firing";
  const isKnown = open !== null && (isFiring ? open.saidFired : open.saidNodata);
  if (!isKnown) return isFiring ? "fired" : "nodata";
  return now - open.deliveredAt >= repeatMs ? "repeated" : null;
}

/** What makes a change one and the same, at whichever evaluation it is delivered. */
export interface ChangeKey {
  readonly fingerprint: string;
  readonly change: Change;
  /** When the alert was raised (RFC 3339). */
  readonly startsAt: string;
  /** When the target was last notified of it (RFC 3339); null if never. */
  readonly deliveredAt: string | null;
}

/** The record after a change was delivered at `now`. */
export function afterDelivery(
  record: DeliveryRecord | null,
  { change, startsAt }: Pick<ChangeKey, "change" | "startsAt">,
  now: number,
): DeliveryRecord {
  const open = record?.isOpen === true ? record : null;
  return {
    isOpen: change !== "resolved",
    raisedAt: Date.parse(startsAt),
    deliveredAt: now,
    saidFired: open?.saidFired === true || change === "fired",
    saidNodata: open?.saidNodata === true || change === "nodata",
  };
}

/** Which message each change was last sent in that has not been delivered, by its key. */
export type Undelivered = { readonly [changeKey: string]: string };

/**
 * Puts what is due to a target into messages, by their `Webhook-Id`: what was sent before and not
 * delivered goes into the message that it was in, and all that is new into one more.
 */
export function intoMessages<C extends ChangeKey>(
  target: string,
  due: readonly C[],
  undelivered: Undelivered,
): ReadonlyMap<string, readonly C[]> {
  const isNew = (change: C) => undelivered[keyOf(change)] === undefined;
  const newId = messageId(target, due.filter(isNew).map(keyOf));
  return Map.groupBy(due, (change) => undelivered[keyOf(change)] ?? newId);
}

/** What is undelivered while these messages are under way. */
export function asUndelivered(
  messages: Iterable<readonly [id: string, changes: readonly ChangeKey[]]>,
): Undelivered {
  return Object.fromEntries(
    [...messages].flatMap(([id, changes]) => changes.map((change) => [keyOf(change), id])),
  );
}

function keyOf({ fingerprint, change, startsAt, deliveredAt }: ChangeKey): string {
  return [fingerprint, change, startsAt, deliveredAt ?? "never"].join("|");
}

/** Hex digits of a message's id. */
const ID_LENGTH = 32;

function messageId(target: string, changeKeys: readonly string[]): string {
  return sha256Hex(JSON.stringify([target, ...changeKeys.toSorted()])).slice(0, ID_LENGTH);
}
