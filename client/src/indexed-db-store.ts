import type { Store } from "./store.ts";

const NAME = "locations-at-the-edge";
const OBJECTS = "values";

/** Keeps values in IndexedDB. Browsers only: a page or its worker. */
export function indexedDbStore(): Store {
  let database: Promise<IDBDatabase> | undefined;
  const objects = async (mode: IDBTransactionMode) => {
    database ??= openDatabase();
    return (await database).transaction(OBJECTS, mode).objectStore(OBJECTS);
  };
  return {
    async get(key) {
      return settled<unknown>((await objects("readonly")).get(key));
    },
    async set(key, value) {
      await settled((await objects("readwrite")).put(value, key));
    },
    async delete(key) {
      await settled((await objects("readwrite")).delete(key));
    },
    async keys() {
      return (await settled((await objects("readonly")).getAllKeys())).map(String);
    },
  };
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(OBJECTS));
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("no IndexedDB")));
  });
}
