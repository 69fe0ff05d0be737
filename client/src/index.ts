/** The door of the package in Workers, and wherever else nothing can be stored. */
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { openCatalogIn } from "./full-catalog.ts";
import { openSearchIn } from "./picker.ts";
import { NO_STORE } from "./store.ts";

export * from "./api.ts";

/** Fetches the catalog, unless this isolate has it open. */
export async function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  return openCatalogIn(options, NO_STORE);
}

/**
 * Fetches the places to search without the catalog, unless this isolate has them, with their names in
 * other languages: what is fetched behind a search ends with the request that it answers.
 */
export async function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return openSearchIn(options, NO_STORE, { lazyNames: false });
}
