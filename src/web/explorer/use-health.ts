import { useEffect, useState } from "preact/hooks";

/** The part of `GET /catalog/health` that this page reads. */
export interface Health {
  readonly locales?: readonly { readonly locale: string }[];
  readonly counts?: Readonly<
    Record<"airports" | "cities" | "countries" | "regions", number>
  > | null;
}

/** Returns the published version, long before the catalog is there; at first an empty object. */
export function useHealth(): Health {
  const [health, setHealth] = useState<Health>({});
  useEffect(() => {
    const left = new AbortController();
    const load = async () => {
      const answer = await fetch("/catalog/health", { signal: left.signal });
      if (answer.ok) setHealth(await answer.json());
    };
    // The language that is shown stays, and the catalog has its own counts.
    load().catch((cause: unknown) => left.signal.aborted || console.warn(cause));
    return () => left.abort();
  }, []);
  return health;
}
