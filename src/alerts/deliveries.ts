/**
 * Deliveries: one record per target and alert. Pure: no clock, no I/O.
 *
 * The alert's state and the record determine the due change. A failed delivery is therefore due
 * again at the next evaluation, in the same message. A successful one is never repeated.
 */
import { sha256Hex } from "../catalog/bytes.ts";
import { type AlertTrack, needsAttention } from "./alert-state.ts";

/** Change of an alert that a message reports. */
export const CHANGES = ["fired", "nodata", "repeated", "resolved"] as const;
export type Change = (typeof CHANGES)[number];

/** Deliveries of an alert to a target. Times are milliseconds since 1970. */
export interface DeliveryRecord {
  /** Whether the target knows the alert as raised. */
  readonly isOpen: boolean;
  /** Raising time of the alert that the target knows. */
  readonly raisedAt: number;
  /** Time of the last delivery. */
  readonly deliveredAt: number;
  /** Whether the target knows that the raised alert fires, and that it has no data. */
  readonly saidFired: boolean;
  readonly saidNodata: boolean;
}

interface DeliveryContext {
  readonly now: number;
  /** Interval at which an open alert is repeated. */
  readonly repeatMs: number;
  /** Whether a pause excuses the alert, so that raising it notifies nobody. */
  readonly suppressed: boolean;
}

/** Returns the change that is due to a target; null if none is. */
export function dueChange(
  track: AlertTrack,
  record: DeliveryRecord | null,
  { now, repeatMs, suppressed }: DeliveryContext,
): Change | null {
  const open = record?.isOpen === true ? record : null;
  if (track.raisedAt === null) return open === null ? null : "resolved";
  // A recovering alert may resolve at the next evaluation.
  if (suppressed || track.goods > 0 || !needsAttention(track.state)) return null;
  const isFiring = track.state === "firing";
  const isKnown = open !== null && (isFiring ? open.saidFired : open.saidNodata);
  if (!isKnown) return isFiring ? "fired" : "nodata";
  return now - open.deliveredAt >= repeatMs ? "repeated" : null;
}

/** Identifies a change across evaluations. */
export interface ChangeKey {
  readonly fingerprint: string;
  readonly change: Change;
  /** Raising time of the alert (RFC 3339). */
  readonly startsAt: string;
  /** Time of the last delivery to the target (RFC 3339); null if never. */
  readonly deliveredAt: string | null;
}

/** Returns the record after the delivery of a change at `now`. */
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

/** Message id of each undelivered change, by change key. */
export type Undelivered = { readonly [changeKey: string]: string };

/**
 * Groups the due changes of a target into messages by `Webhook-Id`. An undelivered change stays in
 * its message; all new changes form one more message.
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

/** Lists the changes of messages that are about to be sent. */
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
