import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type AdminFailure, askAdmin } from "./admin-client.ts";

export interface Polled<T> {
  /** The last answer; kept while later ones fail. */
  readonly body: T | undefined;
  /** Why the last question went unanswered. */
  readonly failure: AdminFailure | undefined;
  /** Asks at once. */
  readonly refresh: () => void;
}

/** How long one answer may take before it is given up. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Asks for a document again and again while the page is in sight. Where a credential is wanted, it
 * asks no more until it is refreshed: the service counts such failures and slows them down.
 */
export function usePoll<T>(path: string, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ body: T | undefined; failure: AdminFailure | undefined }>({
    body: undefined,
    failure: undefined,
  });
  const [round, setRound] = useState(0);
  const asked = useRef(path);
  const refresh = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    const left = new AbortController();
    // Another document is not an update of this one.
    if (asked.current !== path) setState({ body: undefined, failure: undefined });
    asked.current = path;
    let isAsking = false;
    const ask = async () => {
      // A slow service is not asked again before it has answered, nor shown by an older answer.
      if (isAsking) return;
      isAsking = true;
      const signal = AbortSignal.any([left.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
      const result = await askAdmin<T>({ path, signal });
      isAsking = false;
      if (left.signal.aborted) return;
      if (result.ok) setState({ body: result.body, failure: undefined });
      else setState(({ body }) => ({ body, failure: result.failure }));
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
