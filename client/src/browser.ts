/** The door of the package in browsers. All work is done in a worker. */
import type { LocationsCatalog, LocationsSearch, OpenOptions, WorkerPort } from "./api.ts";
import { misuse, needCrypto, readCaller } from "./open-options.ts";
import { openRemote, openRemoteSearch } from "./remote-catalog.ts";
import { linkOf, type WorkerLink } from "./worker-link.ts";
import type { WorkerOptions } from "./worker-messages.ts";

export * from "./api.ts";

/** Opens the catalog that is stored in IndexedDB and refreshes it in the background, or else fetches it. */
export async function openCatalog(options: OpenOptions): Promise<LocationsCatalog> {
  needCrypto();
  return openRemote(...workerFor(options));
}

/** Opens the search without a catalog, whose places are stored in IndexedDB, too. */
export async function openSearch(options: OpenOptions): Promise<LocationsSearch> {
  return openRemoteSearch(...workerFor(options));
}

function workerFor(options: OpenOptions): [WorkerLink, WorkerOptions] {
  const { startWorker = startOwnWorker, fetch, folder: _, ...others } = options;
  const { baseUrl } = readCaller(options, location.href);
  if (fetch !== undefined)
    throw misuse("invalid_argument", "fetch has no effect in a browser, where a worker fetches");
  return [linkOf(startWorker), { ...others, baseUrl }];
}

/** Bundlers know this expression: they make a file of the worker. */
function startOwnWorker(): WorkerPort {
  if (typeof Worker === "undefined")
    throw misuse("failed_precondition", "there are no workers here, as in jsdom: see startWorker");
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
}
