import { useEffect, useState } from "preact/hooks";

/** Defers a value to the next frame, so that typing never waits for its dependents. */
export function useDeferred<T>(value: T): T {
  const [deferred, setDeferred] = useState(value);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setDeferred(value));
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return deferred;
}
