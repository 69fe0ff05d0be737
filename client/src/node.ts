/** The door of the package in Node. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { LocationsCatalog, OpenOptions } from "./api.ts";
import { fileStore } from "./file-store.ts";
import { openSearchable } from "./searchable-catalog.ts";
import { NO_STORE, type Store } from "./store.ts";

export * from "./api.ts";

/** By their folders: what two callers open in one, they share. */
const stores = new Map<string, Store>();

/** Opens the catalog that is stored in a folder and refreshes it in the background, or else fetches it. */
export function openCatalog({
  folder = defaultFolder(),
  ...options
}: OpenOptions): Promise<LocationsCatalog> {
  if (folder === undefined) return openSearchable(options, NO_STORE);
  const store = stores.get(folder) ?? fileStore(folder);
  stores.set(folder, store);
  return openSearchable(options, store);
}

/** Undefined where the user has no home, as in a container with a number for a user. */
function defaultFolder(): string | undefined {
  try {
    return join(homedir(), ".cache", "locations-at-the-edge");
  } catch {
    return undefined;
  }
}
