import type { Medium } from "./store.ts";

const NAME = "locations-at-the-edge";
/** Raised when records change their form: opening the database then deletes the earlier ones. */
const VERSION = 2;
const OBJECTS = "copies";

/** Values in IndexedDB, for a page or its worker. */
export function indexedDbMedium(): Medium {
  let database: Promise<IDBDatabase> | undefined;
  const forget = () => (database = undefined);

  async function objects(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    database ??= openDatabase(forget);
    database.catch(forget);
    return (await database).transaction(OBJECTS, mode).objectStore(OBJECTS);
  }

  return {
    async read(key) {
      return bytesOf(await settled<unknown>((await objects("readonly")).get(key)));
    },
    async replace(key, next) {
      const store = await objects("readwrite");
      // In one transaction, which no other tab can enter.
      const value = next(bytesOf(await settled<unknown>(store.get(key))));
      if (value !== undefined) await settled(store.put(value, key));
    },
    async delete(key) {
      await settled((await objects("readwrite")).delete(key));
    },
    async keys() {
      return (await settled((await objects("readonly")).getAllKeys())).map(String);
    },
  };
}

/** @param onEnd called when the database is closed, and has to be opened anew. */
async function openDatabase(onEnd: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.addEventListener("upgradeneeded", () => {
    const { result: database } = request;
    for (const former of Array.from(database.objectStoreNames)) database.deleteObjectStore(former);
    database.createObjectStore(OBJECTS);
  });
  const database = await settled(request);
  database.addEventListener("close", onEnd);
  // Whoever deletes it, or opens it in a later version, waits until it is closed.
  database.addEventListener("versionchange", () => {
    database.close();
    onEnd();
  });
  return database;
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  return value instanceof Uint8Array ? new Uint8Array(value) : undefined;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("no IndexedDB")));
  });
}
