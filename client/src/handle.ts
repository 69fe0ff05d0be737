/** What callers get. Checks what they give, and ends their waits. */
import type { LocationsCatalog, LocationsSearch, SearchOptions } from "./api.ts";
import type { Core } from "./calls.ts";
import type { Catalog } from "./catalog.ts";
import { orAborted } from "./joint.ts";
import { readKey, readListener, readLocale, readNearest, readSearch } from "./options.ts";

/**
 * Gives out a search. A closure, and no object with private members, because those who get it put it
 * into proxies (`ref` of Vue) and take it apart.
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
    onChange: (listener) => core.onChange(readListener(listener)),
    close: () => core.close(),
  };
}

/** Gives out a catalog. */
export function catalogOf(core: Core, places: () => Promise<Catalog>): LocationsCatalog {
  return Object.assign(searchOf(core), { places });
}
