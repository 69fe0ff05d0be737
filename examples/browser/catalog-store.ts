/** Keeps the catalog of each locale in IndexedDB. */
import { type CatalogCopy, refresh, type Source } from "../catalog/refresh.ts";

/**
 * Shows the stored catalog at once, if there is one, then the current one if that differs.
 *
 * @throws Error if the service cannot be reached or refuses the locale. What is shown stays good.
 */
export async function openCatalog(
  source: Source,
  show: (catalog: CatalogCopy) => void,
): Promise<void> {
  const key = `${source.service} ${source.locale}`;
  const database = await openDatabase();
  const stored = await settled<CatalogCopy | undefined>(objects(database, "readonly").get(key));
  if (stored !== undefined) show(stored);
  const current = await refresh(source, stored);
  if (current === stored) return;
  show(current);
  await settled(objects(database, "readwrite").put(current, key));
}

const STORE = "copies";

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open("locations", 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
  return settled(request);
}

function objects(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return database.transaction(STORE, mode).objectStore(STORE);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
