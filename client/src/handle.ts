/** The objects that callers get. Checks their arguments, and ends their waits. */
import type { LocationsCatalog, LocationsSearch, SearchOptions } from "./api.ts";
import type { Core } from "./calls.ts";
import type { Catalog } from "./catalog.ts";
import { orAborted } from "./joint.ts";
import { readKey, readListener, readLocale, readNearest, readSearch } from "./options.ts";

/**
 * Makes the object of a search. A closure, without private members, because callers wrap it in proxies
 * (`ref` of Vue) and destructure it.
 */
export function searchOf(core: Core): LocationsSearch & Pick<LocationsCatalog, "version"> {
  return {
    get version() {
      return core.state.version;
    },
    get language() {
      return core.state.language;
    },
    get lastRefreshed() {
      return new Date(core.state.lookedAt);
    },
    get lastError() {
      return core.state.lastError;
    },
    async search(typed: string, options?: SearchOptions) {
      const argument = readSearch(typed, options);
      options?.signal?.throwIfAborted();
      return orAborted(core.call("search", argument), options?.signal);
    },
    get: async (key) => core.call("get", readKey(key)),
    nearest: async (position, options) => core.call("nearest", readNearest(position, options)),
    setLocale: async (locale) => core.call("setLocale", readLocale(locale)),
    refresh: async () => core.call("refresh", null),
    onChange: (listener) => core.onChange(apart(readListener(listener))),
    close: () => core.close(),
  };
}

/** What a listener throws is reported as uncaught, and fails neither other listeners nor a call. */
function apart(listener: () => void): () => void {
  return () => {
    try {
      listener();
    } catch (cause) {
      queueMicrotask(() => {
        throw cause;
      });
    }
  };
}

/** Makes the object of a catalog. */
export function catalogOf(core: Core, places: () => Promise<Catalog>): LocationsCatalog {
  return Object.assign(searchOf(core), { places });
}
