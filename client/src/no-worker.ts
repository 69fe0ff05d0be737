/** The door of the package for pages without a worker: all work is done in the thread that calls. */
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { openCatalogIn } from "./full-catalog.ts";
import { indexedDbMedium } from "./indexed-db-store.ts";
import { openSearchIn } from "./picker.ts";
import { Store } from "./store.ts";

export * from "./api.ts";

const store = new Store(indexedDbMedium());

/** Opens the catalog that is stored in IndexedDB and refreshes it in the background, or else fetches it. */
export async function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  return openCatalogIn(options, store);
}

/** Opens the search without a catalog, whose places are stored in IndexedDB, too. */
export async function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return openSearchIn(options, store);
}
