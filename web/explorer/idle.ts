/** Longest wait for a page that is never idle, and the wait where the browser has no idle callback. */
const IDLE_MS = 500;

/** Waits until the page has drawn what there is to draw: for work that nobody waits for. */
export function untilIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: IDLE_MS });
    else setTimeout(resolve, IDLE_MS);
  });
}
