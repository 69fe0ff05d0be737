/** The door of the package in browsers. All work is done in a worker. */
import type { LocationsCatalog, OpenOptions, WorkerPort } from "./api.ts";
import { readBaseUrl } from "./base-url.ts";
import { RemoteCatalog } from "./remote-catalog.ts";

export * from "./api.ts";

/** Opens the catalog that is stored in IndexedDB and refreshes it in the background, or else fetches it. */
export async function openCatalog({
  baseUrl,
  locale = "",
  timeoutMs,
  startWorker = startOwnWorker,
}: OpenOptions): Promise<LocationsCatalog> {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const options = { baseUrl: readBaseUrl(baseUrl, location.href), locale, ...limit };
  return RemoteCatalog.open(startWorker(), options);
}

/** Bundlers know this expression: they make a file of the worker. */
function startOwnWorker(): WorkerPort {
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
}
