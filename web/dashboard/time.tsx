import { useEffect, useState } from "preact/hooks";
import { formatAge } from "../../src/platform/durations.ts";
import { formatTime } from "../shared/format.ts";

const EVERY_MS = 1_000;

/** Returns the time in milliseconds since the epoch, updated every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** A time as its age; the time itself appears when one points at it. */
export function Age({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatTime(at)}>
      {formatAge(at, useNow())}
    </time>
  );
}

/** A time as its age, with the time itself in the reader's zone and in UTC; a dash for none. */
export function Time({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>–</>;
  return (
    <time dateTime={at}>
      {formatAge(at, now)} <small>{formatTime(at)}</small>
    </time>
  );
}
