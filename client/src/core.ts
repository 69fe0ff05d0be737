/** Runs a search or a catalog in the thread that calls it. */
import type { Argument, Answer, Core, CoreCalls } from "./calls.ts";
import type { Catalog } from "./catalog.ts";
import { orAborted } from "./joint.ts";
import { type Edition, type Kind, type Library, libraryOf } from "./library.ts";
import { type Caller, closed } from "./options.ts";
import { nearestTo } from "./nearest.ts";
import { search } from "./search/search.ts";
import { NO_STORE, type Store } from "./store.ts";
import { suggestionOf } from "./suggestion.ts";
import { toCatalogError } from "./to-catalog-error.ts";

/** A text with a typo takes longer, and makes the next search no faster. */
const WARM_UP = "london";

/** A core in this thread. */
export interface ThreadCore extends Core {
  /** Searches before anybody does, because the first search takes several times as long. */
  readonly warmUp: () => void;
  /** Returns the places that are searched. */
  readonly places: () => Promise<Catalog>;
}

/** Opens what is stored and refreshes it in the background, or else fetches it. */
export async function openCore(kind: Kind, caller: Caller, given: Store): Promise<ThreadCore> {
  const { baseUrl, locale, storedLocales, signal } = caller;
  signal?.throwIfAborted();
  const library = libraryOf(baseUrl, storedLocales > 0 ? given : NO_STORE, kind);
  return coreOf(await orAborted(library.open(locale, caller), signal), { library, caller });
}

interface Access {
  readonly library: Library;
  readonly caller: Caller;
}

/** Makes a core of an edition. */
export function coreOf(first: Edition, { library, caller }: Access): ThreadCore {
  let edition = first;
  /** The locale of the last call. */
  let wanted = first.locale;
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  const { signal } = closing;
  async function untilClosed<T>(work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    return orAborted(work(), signal).catch((cause: unknown) => {
      throw toCatalogError(cause);
    });
  }
  const calls: {
    readonly [C in keyof CoreCalls]: (argument: Argument<C>) => Promise<Answer<C>>;
  } = {
    async search({ typed, limit }) {
      await library.prepareSearch(edition, typed, caller);
      const { index, countryName } = edition.shown;
      return search(index, typed)
        .slice(0, limit)
        .flatMap(({ position, ...how }) => {
          const place = index.places[position];
          const { resorts } = index;
          return place ? [suggestionOf(place, { ...how, countryName, typed, resorts })] : [];
        });
    },
    async get(key) {
      const { index, countryName } = edition.shown;
      const [id, iata] = [key.toLowerCase(), key.toUpperCase()];
      const place = index.places.find(
        (one) => one.id === id || (one.kind === "airport" && one.iata === iata),
      );
      return place && suggestionOf(place, { isUnderCity: false, countryName });
    },
    async nearest(near) {
      const { places, countryName } = edition.shown;
      return nearestTo(places.airports, near, countryName);
    },
    async setLocale(locale) {
      wanted = locale;
      const opened = await library.open(locale, caller);
      // A later call wants another one.
      if (wanted !== locale) return;
      for (const listener of listeners) {
        edition.listeners.delete(listener);
        opened.listeners.add(listener);
      }
      edition = opened;
      for (const listener of listeners) listener();
    },
    refresh: () => library.refresh(edition, caller),
    pack: async () => library.pack(edition),
  };
  return {
    get state() {
      const { copy, language } = edition.shown;
      const { version, lookedAt } = copy;
      return { version, language, lookedAt, lastError: edition.lastError };
    },
    call: (call, argument) => untilClosed(() => calls[call](argument)),
    onChange(listener) {
      if (signal.aborted) return () => undefined;
      listeners.add(listener);
      edition.listeners.add(listener);
      return () => {
        listeners.delete(listener);
        edition.listeners.delete(listener);
      };
    },
    close() {
      closing.abort(closed());
      for (const listener of listeners) edition.listeners.delete(listener);
      listeners.clear();
    },
    warmUp() {
      search(edition.shown.index, WARM_UP);
    },
    places: () => untilClosed(async () => edition.shown.places),
  };
}
