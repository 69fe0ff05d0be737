import type { Deadline } from "./request-deadline.ts";
import { PassingError } from "./source-error.ts";

export interface RetryLimits {
  readonly maxAttempts: number;
  /** Wait before the second attempt; it doubles before each further one. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Longest `Retry-After` that is waited for here; what is longer is left to who called. */
  readonly maxRetryAfterMs: number;
}

export interface RetryDependencies {
  readonly limits: RetryLimits;
  readonly deadline: Deadline;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
}

/**
 * Repeats what ends in a PassingError, as often as the limits and the deadline allow. It waits
 * for the backoff, or for as long as upstream asks if that is longer, and never comes back before:
 * it gives up instead.
 *
 * @throws PassingError of the last attempt, which says how many there were, and how long upstream
 * asks to be left alone.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { limits, deadline, sleep, random }: RetryDependencies,
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PassingError)) throw error;
      const { retryAfterMs } = error;
      const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(attempts, limits, random()));
      const tooLong = (retryAfterMs ?? 0) > limits.maxRetryAfterMs;
      if (attempts >= limits.maxAttempts || tooLong || waitMs >= deadline.remainingMs())
        throw givenUp(error, attempts);
      await sleep(waitMs);
    }
  }
}

/** Half of the wait is fixed and half is jitter, so that clients that failed together part. */
function backoffMs(attempts: number, limits: RetryLimits, random: number): number {
  const fullMs = Math.min(limits.backoffMs * 2 ** (attempts - 1), limits.maxBackoffMs);
  return Math.round((fullMs * (1 + random)) / 2);
}

function givenUp({ fault, message, retryAfterMs }: PassingError, attempts: number): PassingError {
  const asked = retryAfterMs === null ? "" : `; it asks to be left alone for ${retryAfterMs} ms`;
  const made = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return new PassingError(fault, `${message} (${made}${asked})`, retryAfterMs);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that a `Retry-After` asks for (RFC 9110, section 10.2.3: seconds or a date), never
 * below zero; null if there is none or it is neither.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
