/** The door of the package in browsers. All work is done in a worker. */
import type { LocationsCatalog, LocationsSearch, OpenOptions, WorkerPort } from "./api.ts";
import { unpackCatalog } from "./catalog.ts";
import { catalogOf, searchOf } from "./handle.ts";
import { misuse, needCrypto } from "./options.ts";
import { openRemote } from "./worker-link.ts";

export * from "./api.ts";

/** Opens the catalog that is stored in IndexedDB and refreshes it in the background, or else fetches it. */
export async function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  needCrypto();
  const core = await openRemote("open", options, ownPlace(startCatalogWorker));
  return catalogOf(core, async () => unpackCatalog(await core.call("pack", null)));
}

/** Opens the search without a catalog, whose places are stored in IndexedDB, too. */
export async function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return searchOf(await openRemote("openSearch", options, ownPlace(startSearchWorker)));
}

function ownPlace(startOwnWorker: () => WorkerPort) {
  return { page: globalThis.location?.href, startOwnWorker };
}

/** Bundlers know this expression: they make a file of the worker. */
function startCatalogWorker(): WorkerPort {
  needWorkers();
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
}

function startSearchWorker(): WorkerPort {
  needWorkers();
  return new Worker(new URL("./search-worker.js", import.meta.url), { type: "module" });
}

/** @throws CatalogError `failed_precondition` where there are none. */
function needWorkers(): void {
  if (typeof Worker !== "undefined") return;
  throw misuse(
    "failed_precondition",
    "there are no workers here, as in jsdom: import locations-at-the-edge-client/no-worker",
  );
}
