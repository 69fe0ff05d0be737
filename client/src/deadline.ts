/**
 * Runs work with a signal that is aborted after a time. In contrast to that of `AbortSignal.timeout`,
 * its timer ends with the work: Deno lets no program end before its timers.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
