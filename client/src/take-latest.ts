/**
 * Makes a search for one text field, in which the last call wins: an earlier one that has not ended
 * resolves as null once there is a later one, even if it fails, and its signal is aborted.
 */
export function takeLatest<T>(
  search: (typed: string, signal: AbortSignal) => Promise<T>,
): (typed: string) => Promise<T | null> {
  let latest = new AbortController();
  return (typed) => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(null));
      // Once it is superseded, these have no effect.
      search(typed, signal).then(resolve, reject);
    });
  };
}
