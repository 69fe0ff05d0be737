/** Texts in the data center's cache. */
export interface EdgeCache {
  /** Returns undefined if the text is missing or the cache fails. */
  get(name: string): Promise<string | undefined>;
  /** Stores a text for an hour, in the background. */
  put(name: string, text: string): void;
}

const TTL_SECONDS = 3_600;

/**
 * @param version of the Worker: each version has its own texts.
 * @param waitUntil keeps the current request's context alive until a promise settles.
 */
export function createEdgeCache(
  cache: Cache,
  version: string,
  waitUntil: (promise: Promise<unknown>) => void,
): EdgeCache {
  const urlOf = (name: string) => `https://cache.invalid/${version}/${name}`;
  return {
    async get(name) {
      const found = await cache.match(urlOf(name)).catch(() => undefined);
      return found?.text();
    },
    put(name, text) {
      const headers = { "cache-control": `public, max-age=${TTL_SECONDS}` };
      waitUntil(cache.put(urlOf(name), new Response(text, { headers })).catch(() => undefined));
    },
  };
}
