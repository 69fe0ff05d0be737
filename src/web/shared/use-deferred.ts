import { useEffect, useState } from "preact/hooks";

/** A value that follows at the next frame, so that typing never waits for what depends on it. */
export function useDeferred<T>(value: T): T {
  const [deferred, setDeferred] = useState(value);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setDeferred(value));
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return deferred;
}
