import { PassingError } from "./source-error.ts";

/** The remaining time of a fetch, across all of its requests. */
export type Deadline = ReturnType<typeof startDeadline>;

export interface DeadlineLimits {
  /** Longest time for all requests. */
  readonly totalMs: number;
  /** Longest silence of upstream: until a response begins, and between two chunks of its body. */
  readonly idleMs: number;
}

/** Starts the clock. The deadline does not stop the work itself: the caller must abort it. */
export function startDeadline(limits: DeadlineLimits, now: () => number) {
  const { totalMs, idleMs } = limits;
  const endsAt = now() + totalMs;
  /** Zero or negative once the time is over. */
  const remainingMs = () => endsAt - now();
  return {
    remainingMs,
    /**
     * Awaits a promise within the limits.
     *
     * @param where name of the file in messages.
     * @throws PassingError `deadline` if the total time or the longest silence is over.
     */
    async wait<T>(where: string, promise: Promise<T>): Promise<T> {
      const leftMs = remainingMs();
      const expired = leftMs <= idleMs ? overdue(where, totalMs) : silent(where, idleMs);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const expiry = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(expired), Math.min(leftMs, idleMs));
      });
      try {
        return await Promise.race([promise, expiry]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function overdue(where: string, totalMs: number): PassingError {
  return new PassingError(
    "deadline",
    `${where} was not complete within the ${totalMs} ms that all files may take; try again later, or allow more time`,
  );
}

function silent(where: string, idleMs: number): PassingError {
  return new PassingError("deadline", `${where} sent nothing for ${idleMs} ms; try again later`);
}
