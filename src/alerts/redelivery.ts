/**
 * How a receiver knows a message that it is sent again, and when it is sent again one that it did
 * not answer in time: it may have taken that one. Pure: no clock, no I/O.
 */
import { sha256Hex } from "../catalog/hash.ts";
import type { Notice } from "./notice.ts";

/** What a target did not answer in time. */
export interface Unanswered {
  /** What it was told, as `changeKeys` has it. */
  readonly changes: readonly string[];
  /** Evaluations in a row. */
  readonly times: number;
  /** When it is told that again (milliseconds since 1970). */
  readonly retryAt: number;
}

/** One tick, whose distance varies by seconds: the first retry is at the next evaluation. */
const FIRST_WAIT_MS = 4 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;
/** Hex digits of a message's id. */
const ID_LENGTH = 32;

/** Names each change that a target is told of: the same until it has taken it. */
export function changeKeys(notices: readonly Notice[]): readonly string[] {
  return notices
    .map(({ fingerprint, change, startsAt, lastToldAt }) =>
      [fingerprint, change, startsAt, lastToldAt ?? "never"].join("|"),
    )
    .toSorted();
}

/** The `Webhook-Id` of the message that tells a target of these changes. */
export function messageId(target: string, changes: readonly string[]): string {
  return sha256Hex(JSON.stringify([target, ...changes])).slice(0, ID_LENGTH);
}

/** Until when a target is not told again what it may know; null if it is told at once, as news is. */
export function heldBackUntil(
  unanswered: Unanswered | null,
  { changes, now }: { readonly changes: readonly string[]; readonly now: number },
): number | null {
  if (unanswered === null || now >= unanswered.retryAt) return null;
  const isKnown = changes.every((change) => unanswered.changes.includes(change));
  return isKnown ? unanswered.retryAt : null;
}

/** After one more message without an answer, sent at `now`: the wait doubles, up to an hour. */
export function afterSilence(
  before: Unanswered | null,
  { changes, now }: { readonly changes: readonly string[]; readonly now: number },
): Unanswered {
  const times = (before?.times ?? 0) + 1;
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (times - 1), LONGEST_WAIT_MS);
  return { changes, times, retryAt: now + waitMs };
}
