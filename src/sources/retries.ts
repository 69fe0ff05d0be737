import type { Deadline } from "./request-deadline.ts";
import { PassingError } from "./source-error.ts";

export interface RetryLimits {
  readonly maxAttempts: number;
  /** Wait before the second attempt. It doubles for each further attempt. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Longest accepted `Retry-After`. A longer one ends the attempts. */
  readonly maxRetryAfterMs: number;
}

export interface RetryDependencies {
  readonly limits: RetryLimits;
  readonly deadline: Deadline;
  readonly sleep: (ms: number) => Promise<void>;
  /** Returns 0 to 1, like Math.random. */
  readonly random: () => number;
}

/**
 * Repeats an attempt that fails with PassingError, within the limits and the deadline. It waits for
 * the longer of the backoff and Retry-After. It gives up if it cannot wait that long.
 *
 * @throws PassingError of the last attempt, with the number of attempts and upstream's Retry-After.
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

/** Half of the wait is jitter, so that clients that failed together do not retry together. */
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
 * Parses `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) to milliseconds, at least
 * zero. Returns null if it is missing or malformed.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
