/** The door of the package in Node. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { fileStore } from "./file-store.ts";
import { openSearchable, openServed } from "./searchable-catalog.ts";
import { NO_STORE, type Store } from "./store.ts";

export * from "./api.ts";

/** By their folders: what two callers open in one, they share. */
const stores = new Map<string, Store>();

/** Opens the catalog that is stored in a folder and refreshes it in the background, or else fetches it. */
export function openCatalog({ folder, ...options }: OpenOptions): Promise<LocationsCatalog> {
  return openSearchable(options, storeIn(folder));
}

/** Opens the search without a catalog, whose places are stored in a folder, too. */
export function openSearch({ folder, ...options }: OpenOptions): Promise<LocationsSearch> {
  return openServed(options, storeIn(folder));
}

function storeIn(folder = defaultFolder()): Store {
  if (folder === undefined) return NO_STORE;
  const store = stores.get(folder) ?? fileStore(folder);
  stores.set(folder, store);
  return store;
}

/** Undefined where the user has no home, as in a container with a number for a user. */
function defaultFolder(): string | undefined {
  try {
    return join(homedir(), ".cache", "locations-at-the-edge");
  } catch {
    return undefined;
  }
}
