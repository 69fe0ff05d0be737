/** The door of the package in Workers, and wherever else nothing can be stored. */
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { openSearchable, openServed } from "./searchable-catalog.ts";
import { NO_STORE } from "./store.ts";

export * from "./api.ts";

/** Fetches the catalog, unless this isolate has it open. */
export function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  return openSearchable(options, NO_STORE);
}

/**
 * Fetches the places to search without the catalog, unless this isolate has them, with their names in
 * other languages: what is fetched behind a search ends with the request that it answers.
 */
export function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return openServed({ lazyNames: false, ...options }, NO_STORE);
}
