/** Texts in the cache of the data centre. */
export interface EdgeCache {
  /** Undefined if it is not there or the cache does not answer. */
  get(name: string): Promise<string | undefined>;
  /** Keeps a text for an hour, behind the answer. */
  put(name: string, text: string): void;
}

const KEPT_SECONDS = 3_600;

/**
 * @param version told apart, because another version of the Worker may write another text.
 * @param waitUntil keeps the present request's context alive until a promise settles.
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
      const headers = { "cache-control": `public, max-age=${KEPT_SECONDS}` };
      waitUntil(cache.put(urlOf(name), new Response(text, { headers })).catch(() => undefined));
    },
  };
}
