/** The door of the package in Node. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { LocationsCatalog, OpenOptions } from "./api.ts";
import { fileStore } from "./file-store.ts";
import { SearchableCatalog } from "./searchable-catalog.ts";

export * from "./api.ts";

/** Opens the catalog that is stored in a folder and refreshes it in the background, or else fetches it. */
export function openCatalog({
  folder = DEFAULT_FOLDER,
  ...options
}: OpenOptions): Promise<LocationsCatalog> {
  return SearchableCatalog.open(options, fileStore(folder));
}

const DEFAULT_FOLDER = join(homedir(), ".cache", "locations-at-the-edge");
