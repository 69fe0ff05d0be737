import { useEffect, useState } from "preact/hooks";

/** The part of `GET /catalog/health` that this page reads. */
export interface Health {
  readonly locales?: readonly { readonly locale: string }[];
  readonly counts?: Readonly<
    Record<"airports" | "cities" | "countries" | "regions", number>
  > | null;
}

const PATH = "/catalog/health";
/** The cache of this device for the last answer. */
const STORED_HEALTH = "health";

/**
 * Returns the published version, long before the catalog is there; at first an empty object. Asks
 * again with the first catalog if there was no version before.
 */
export function useHealth(hasCatalog: boolean): Health {
  const [health, setHealth] = useState<Health>({});
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    const left = new AbortController();
    const load = async () => {
      const found = await loadHealth(left.signal);
      if (found === undefined) setMissing(true);
      else setHealth(found);
    };
    // The language that is shown stays, and the catalog has its own counts.
    load().catch((cause: unknown) => left.signal.aborted || console.warn(cause));
    return () => left.abort();
  }, [isMissing && hasCatalog]);
  return health;
}

/** Undefined while nothing is published. Without a connection, what this device saw last. */
async function loadHealth(signal: AbortSignal): Promise<Health | undefined> {
  try {
    const answer = await fetch(PATH, { signal });
    if (!answer.ok) return undefined;
    // Without room for it, the other languages cannot be chosen without a connection.
    storeHealth(answer.clone()).catch((cause: unknown) => console.warn(cause));
    return await answer.json();
  } catch (cause) {
    const last = signal.aborted || !("caches" in window) ? undefined : await storedHealth();
    if (last === undefined) throw cause;
    return last.json();
  }
}

/** `caches` is missing on an origin that is not secure. */
async function storeHealth(answer: Response): Promise<void> {
  if ("caches" in window) await (await caches.open(STORED_HEALTH)).put(PATH, answer);
}

async function storedHealth(): Promise<Response | undefined> {
  return (await caches.open(STORED_HEALTH)).match(PATH, { ignoreVary: true });
}
