/** The door of the package in Node. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { fileMedium } from "./file-store.ts";
import { openCatalogIn } from "./full-catalog.ts";
import { openSearchIn } from "./picker.ts";
import { NO_STORE, Store } from "./store.ts";

export * from "./api.ts";

/** By their folders. Two callers share what they open in one folder. */
const stores = new Map<string, Store>();

/** Opens the catalog that is stored in a folder and refreshes it in the background, or else fetches it. */
export async function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  return openCatalogIn(options, storeIn(options));
}

/** Opens the search without a catalog, whose places are stored in a folder, too. */
export async function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return openSearchIn(options, storeIn(options));
}

function storeIn(options: OpenOptions): Store {
  const folder = options?.folder ?? defaultFolder();
  // Refused later, with the other options.
  if (typeof folder !== "string") return NO_STORE;
  const store = stores.get(folder) ?? new Store(fileMedium(folder));
  stores.set(folder, store);
  return store;
}

/** Undefined where the user has no home, as in a container that runs as a bare number. */
function defaultFolder(): string | undefined {
  try {
    return join(homedir(), ".cache", "locations-at-the-edge");
  } catch {
    return undefined;
  }
}
