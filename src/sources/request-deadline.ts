import { PassingError } from "./source-error.ts";

/** Time that remains for a fetch, however many requests it takes. */
export interface Deadline {
  /** Zero or less when it is over. */
  remainingMs(): number;
  /**
   * What `promise` comes to, unless that takes too long.
   *
   * @param where what messages call the file.
   * @throws PassingError `deadline` when the time is over, or nothing came for the longest silence.
   */
  wait<T>(where: string, promise: Promise<T>): Promise<T>;
}

export interface DeadlineLimits {
  /** Longest time for everything. */
  readonly totalMs: number;
  /** Longest silence of upstream: until a response begins, and between two chunks of its body. */
  readonly idleMs: number;
}

/** Starts to count. Timers do not stop the work itself: whoever waits has to abort it. */
export function startDeadline(limits: DeadlineLimits, now: () => number): Deadline {
  const { totalMs, idleMs } = limits;
  const endsAt = now() + totalMs;
  const remainingMs = () => endsAt - now();
  return {
    remainingMs,
    async wait(where, promise) {
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
