import type { LocationsCatalog } from "./api.ts";
import { unpackCatalog } from "./catalog.ts";
import type { WorkerLink } from "./worker-link.ts";
import type { State, WorkerOptions } from "./worker-messages.ts";

/** Opens a catalog in a worker. */
export async function openRemote(
  link: WorkerLink,
  options: WorkerOptions,
): Promise<LocationsCatalog> {
  let state: State = { version: 0, language: "" };
  const listeners = new Set<() => void>();
  const linked = link.add((current) => {
    state = current;
    for (const listener of listeners) listener();
  });
  try {
    await linked.call("open", options);
  } catch (cause) {
    linked.close();
    throw cause;
  }
  return {
    get version() {
      return state.version;
    },
    get language() {
      return state.language;
    },
    search: (typed, limit) =>
      linked.call("search", limit === undefined ? { typed } : { typed, limit }),
    places: async () => unpackCatalog(await linked.call("pack", null)),
    setLocale: (locale) => linked.call("setLocale", locale),
    refresh: () => linked.call("refresh", null),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      listeners.clear();
      linked.close();
    },
  };
}
