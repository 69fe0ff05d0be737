import type { LocationsCatalog, LocationsSearch } from "./api.ts";
import { unpackCatalog } from "./catalog.ts";
import type { LinkedCatalog, WorkerLink } from "./worker-link.ts";
import type { State, WorkerOptions } from "./worker-messages.ts";

/** Opens a catalog in a worker. */
export async function openRemote(
  link: WorkerLink,
  options: WorkerOptions,
): Promise<LocationsCatalog> {
  const { search, linked } = await openIn(link, "open", options);
  return Object.assign(search, {
    places: async () => unpackCatalog(await linked.call("pack", null)),
  });
}

/** Opens the search without a catalog in a worker. */
export async function openRemoteSearch(
  link: WorkerLink,
  options: WorkerOptions,
): Promise<LocationsSearch> {
  const { search } = await openIn(link, "openSearch", options);
  return search;
}

interface Remote {
  readonly search: LocationsSearch & Pick<LocationsCatalog, "version">;
  readonly linked: LinkedCatalog;
}

async function openIn(
  link: WorkerLink,
  call: "open" | "openSearch",
  options: WorkerOptions,
): Promise<Remote> {
  let state: State = { version: 0, language: "" };
  const listeners = new Set<() => void>();
  const linked = link.add((current) => {
    state = current;
    for (const listener of listeners) listener();
  });
  try {
    await linked.call(call, options);
  } catch (cause) {
    linked.close();
    throw cause;
  }
  const search: Remote["search"] = {
    get version() {
      return state.version;
    },
    get language() {
      return state.language;
    },
    search: (typed, limit) =>
      linked.call("search", limit === undefined ? { typed } : { typed, limit }),
    nearest: ({ lat, lon }, limits) =>
      linked.call("nearest", { position: { lat, lon }, ...(limits && { options: limits }) }),
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
  return { search, linked };
}
