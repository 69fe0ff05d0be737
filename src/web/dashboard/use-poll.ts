import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type AdminFailure, askAdmin } from "./admin-client.ts";

export interface Polled<T> {
  /** The last answer; it stays while later requests fail. */
  readonly body: T | undefined;
  /** When it came, in milliseconds since 1970; 0 without one. */
  readonly receivedAt: number;
  /** Failure of the last request. */
  readonly failure: AdminFailure | undefined;
  /** Sends a request at once. */
  readonly refresh: () => void;
}

const NOTHING_YET = { body: undefined, receivedAt: 0, failure: undefined };
/** Deadline of a request. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Polls a document while the page is visible; nothing for a path of null. Stops after a refused credential until `refresh`,
 * because the service counts and slows down such failures.
 */
export function usePoll<T>(path: string | null, everyMs: number): Polled<T> {
  const [state, setState] = useState<Omit<Polled<T>, "refresh">>(NOTHING_YET);
  const [round, setRound] = useState(0);
  const asked = useRef(path);
  const refresh = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    const left = new AbortController();
    // A document of another path is not an update.
    if (asked.current !== path) setState(NOTHING_YET);
    asked.current = path;
    if (path === null) return undefined;
    let isAsking = false;
    const ask = async () => {
      // One request runs at a time, so a slow older answer never replaces a newer one.
      if (isAsking) return;
      isAsking = true;
      const signal = AbortSignal.any([left.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
      const result = await askAdmin<T>({ path, signal });
      isAsking = false;
      if (left.signal.aborted) return;
      if (result.ok) setState({ body: result.body, receivedAt: Date.now(), failure: undefined });
      else setState((last) => ({ ...last, failure: result.failure }));
      if (!result.ok && result.failure.kind === "unauthenticated") stop();
    };
    const askInSight = () => {
      if (document.visibilityState === "visible") void ask();
    };
    void ask();
    const timer = setInterval(askInSight, everyMs);
    document.addEventListener("visibilitychange", askInSight);
    const stop = () => {
      left.abort();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", askInSight);
    };
    return stop;
  }, [path, everyMs, round]);
  return { ...state, refresh };
}
