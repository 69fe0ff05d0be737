/** The door of the package in Workers, and wherever else nothing can be stored. */
import type { LocationsCatalog, OpenOptions } from "./api.ts";
import { SearchableCatalog } from "./searchable-catalog.ts";
import { NO_STORE } from "./store.ts";

export * from "./api.ts";

/** Fetches the catalog. */
export function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  return SearchableCatalog.open(options, NO_STORE);
}
