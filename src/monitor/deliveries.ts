/** The changes since a webhook's last notices. Pure: no clock, no I/O. */
import * as z from "zod";
import { count, type DeepReadonly } from "../schemas/fields.ts";
import { SEVERITIES, type Severity } from "../schemas/rule-names.ts";
import { storedTime } from "../storage/object-tables.ts";
import { HOUR_MS, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import { ALERT_CHANGES, type AlertChange } from "../schemas/alert-run.ts";
import { type AlertTrack, type Evaluated, needsAttention } from "./alert-state.ts";
import type { Notice } from "./messages.ts";

/** An open alert as a webhook knows it. */
const knownAlert = z.object({
  raisedAt: storedTime,
  deliveredAt: storedTime,
  /** The changes of which it was notified since the alert was raised. */
  notified: z.array(z.enum(ALERT_CHANGES)),
  /** The severities under which it knows the alert. */
  severities: z.array(z.enum(SEVERITIES)),
});
export type KnownAlert = DeepReadonly<z.output<typeof knownAlert>>;

const undeliveredChange = z.object({ change: z.enum(ALERT_CHANGES), messageId: z.string() });

/** Longest silence for which a webhook may ask: an hour, since it withholds every alert. */
export const RETRY_AFTER_MAX_MS = HOUR_MS;

/** The notices that a webhook has accepted. */
export const targetRecord = z.object({
  /** Consecutive evaluations with a failed delivery. */
  failures: count,
  lastError: z.string().nullable(),
  /** The alerts that it knows as open, by fingerprint. */
  known: z.record(z.string(), knownAlert),
  /** The changes that it has not accepted yet, by fingerprint. */
  undelivered: z.record(z.string(), undeliveredChange),
  /** When it has said how long it wants no message, and how long; absent if it wants them. */
  silence: z.object({ since: storedTime, ms: count.max(RETRY_AFTER_MAX_MS) }).optional(),
});
export type TargetRecord = DeepReadonly<z.output<typeof targetRecord>>;

export const NEW_TARGET: TargetRecord = {
  failures: 0,
  lastError: null,
  known: {},
  undelivered: {},
};

export type DueNotice = Notice & Readonly<z.output<typeof undeliveredChange>>;

interface DueContext {
  readonly now: EpochMs;
  /** Interval of repeated notices about an open alert. */
  readonly repeatMs: DurationMs;
  /** Whether the target ends an open alert that an evaluation does not repeat. */
  readonly forgets: boolean;
  /** Id of the message with all new changes. */
  readonly newId: string;
}

/** Lists the notices that a target lacks. One that it has not accepted keeps the id of its message. */
export function noticesDue(
  { known: knownAlerts, undelivered }: TargetRecord,
  evaluated: readonly Evaluated[],
  { newId, ...context }: DueContext,
): readonly DueNotice[] {
  const { now } = context;
  return evaluated.flatMap(({ record: { track }, result }) => {
    const { fingerprint, severity, suppressed } = result;
    const known = knownAlerts[fingerprint];
    const change = dueChange(track, known, { ...context, suppressed });
    if (change === null) return [];
    const before = undelivered[fingerprint];
    return {
      ...result,
      change,
      messageId: before?.change === change ? before.messageId : newId,
      severities: severitiesDue(known?.severities ?? [], { change, severity }),
      startsAt: timeText(track.raisedAt ?? known?.raisedAt ?? now),
      endsAt: change === "resolved" ? timeText(now) : null,
    };
  });
}

/** Returns the change of an alert that a target does not know; null if it knows the present state. */
export function dueChange(
  { state, consecutiveGood, raisedAt }: AlertTrack,
  known: KnownAlert | undefined,
  {
    now,
    repeatMs,
    forgets,
    suppressed,
  }: Omit<DueContext, "newId"> & {
    /** Whether a pause excuses the alert, so that raising it notifies nobody. */
    readonly suppressed: boolean;
  },
): AlertChange | null {
  if (raisedAt === null) return known === undefined ? null : "resolved";
  // The target may know an earlier incident, whose end it has not accepted.
  const current = known?.raisedAt === raisedAt ? known : undefined;
  const reminder = forgets && current !== undefined ? "repeated" : null;
  // A recovering alert may resolve at the next evaluation.
  if (suppressed || consecutiveGood > 0 || !needsAttention(state)) return reminder;
  const change = state === "firing" ? "fired" : "nodata";
  if (!current?.notified.includes(change)) return change;
  return now - current.deliveredAt >= repeatMs ? "repeated" : reminder;
}

/**
 * Returns the severities of a notice. Receivers identify alerts by their labels, and the severity is
 * one: an open alert keeps its highest severity, and its end has every severity that the target knows.
 */
function severitiesDue(
  known: readonly Severity[],
  { change, severity }: { readonly change: AlertChange; readonly severity: Severity },
): readonly Severity[] {
  if (change === "resolved") return known;
  return known.includes("fail") ? ["fail"] : [severity];
}

/** Returns the record of a target to which these notices are about to be sent. */
export function beforeDelivery(record: TargetRecord, due: readonly DueNotice[]): TargetRecord {
  const undelivered = due.map(({ fingerprint, change, messageId }) => [
    fingerprint,
    { change, messageId },
  ]);
  return { ...record, undelivered: Object.fromEntries(undelivered) };
}

/** Returns the record of a target that has accepted these notices at `now`. */
export function afterDelivery(
  record: TargetRecord,
  notices: readonly Pick<Notice, "fingerprint" | "change" | "startsAt" | "severities">[],
  now: EpochMs,
): TargetRecord {
  const known = new Map(Object.entries(record.known));
  const undelivered = new Map(Object.entries(record.undelivered));
  for (const { fingerprint, change, startsAt, severities } of notices) {
    undelivered.delete(fingerprint);
    const raisedAt = Date.parse(startsAt);
    const before = known.get(fingerprint);
    const notified = before?.raisedAt === raisedAt ? before.notified : [];
    if (change === "resolved") known.delete(fingerprint);
    else
      known.set(fingerprint, {
        raisedAt,
        deliveredAt: now,
        notified: [...new Set([...notified, change])],
        severities: [...new Set([...(before?.severities ?? []), ...severities])],
      });
  }
  return {
    ...record,
    known: Object.fromEntries(known),
    undelivered: Object.fromEntries(undelivered),
  };
}
