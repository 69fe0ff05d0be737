import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { type Edition, type Library, libraryOf } from "./library.ts";
import { type Caller, needCrypto, readCaller, readLocale } from "./open-options.ts";
import type { CatalogCopy } from "./refresh.ts";
import { nearestTo } from "./nearest.ts";
import { search } from "./search/search.ts";
import { NO_STORE, type Store } from "./store.ts";
import { suggestionOf } from "./suggestion.ts";

const DEFAULT_LIMIT = 10;

/** One that also has a typo takes longer, and speeds up what is typed next no more. */
const WARM_UP = "london";

/** A search in the thread that calls it. */
export interface Searchable extends LocationsSearch {
  /** Of the catalog; 0 without one. */
  readonly version: number;
  /** Searches before anybody does, because the first search takes several times as long. */
  readonly warmUp: () => void;
}

/** A catalog in the thread that calls it. */
export interface SearchableCatalog extends Searchable, LocationsCatalog {
  /** The joined catalog for another thread, which calls `unpackCatalog`. */
  readonly pack: () => string;
}

/** Opens the stored catalog and refreshes it in the background, or else fetches it. */
export async function openSearchable(
  options: OpenOptions,
  given: Store,
): Promise<SearchableCatalog> {
  needCrypto();
  const caller = readCaller(options);
  const library = libraryOf(caller.baseUrl, caller.storedLocales > 0 ? given : NO_STORE);
  const edition = await library.open(readLocale(options.locale), caller);
  return catalogOf(edition, { library, caller });
}

/** Opens the search without a catalog: the stored one, or else it is fetched. */
export async function openServed(options: OpenOptions, given: Store): Promise<Searchable> {
  const caller = readCaller({ lazyNames: true, ...options });
  const store = caller.storedLocales > 0 ? given : NO_STORE;
  const library = libraryOf(caller.baseUrl, store, "served");
  const edition = await library.open(readLocale(options.locale), caller);
  return searchOf(edition, { library, caller }).searchable;
}

/** An answer that the caller has fetched itself. */
export interface ShownAnswer {
  /** Its catalog for another thread, which calls `unpackCatalog`. */
  readonly packed: string;
  /** Makes it searchable. */
  readonly open: () => Promise<SearchableCatalog>;
}

export async function showAnswer(options: OpenOptions, copy: CatalogCopy): Promise<ShownAnswer> {
  const caller = readCaller(options);
  const library = libraryOf(caller.baseUrl, NO_STORE);
  library.wantCityNames(copy.language);
  await library.prepareFiles(caller);
  const packed = library.pack(copy);
  const open = async () => catalogOf(await library.editionOf(copy, packed), { library, caller });
  return { packed, open };
}

/** Fetches what an answer is shown and searched with. */
export async function prepareToShow(options: OpenOptions): Promise<void> {
  const caller = readCaller(options);
  const library = libraryOf(caller.baseUrl, NO_STORE);
  library.wantCityNames(readLocale(options.locale));
  await (caller.lazyNames ? library.prepareFiles(caller) : library.wantNames(caller));
}

interface Access {
  readonly library: Library;
  readonly caller: Caller;
}

function catalogOf(first: Edition, { library, caller }: Access): SearchableCatalog {
  const { searchable, current } = searchOf(first, { library, caller });
  return Object.assign(searchable, {
    places: async () => current().shown.places,
    pack: () => library.pack(current().shown.copy),
  });
}

/**
 * Gives out an edition. A closure, and no object with private members, because those who get it put
 * it into proxies (`ref` of Vue) and take it apart.
 */
function searchOf(
  first: Edition,
  { library, caller }: Access,
): { readonly searchable: Searchable; readonly current: () => Edition } {
  let edition = first;
  /** That which was asked for last. */
  let wanted = first.locale;
  const listeners = new Set<() => void>();
  const searchable: Searchable = {
    get version() {
      return edition.shown.copy.version;
    },
    get language() {
      return edition.shown.copy.language;
    },
    async search(typed, limit = DEFAULT_LIMIT) {
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
    async nearest(position, options) {
      const { places, countryName } = edition.shown;
      return nearestTo(places.airports, { position, options, countryName });
    },
    warmUp() {
      search(edition.shown.index, WARM_UP);
    },
    async setLocale(locale) {
      const tag = readLocale(locale);
      wanted = tag;
      const opened = await library.open(tag, caller);
      // Another one was asked for meanwhile.
      if (wanted !== tag) return;
      for (const listener of listeners) {
        edition.listeners.delete(listener);
        opened.listeners.add(listener);
      }
      edition = opened;
      for (const listener of listeners) listener();
    },
    async refresh() {
      await library.refresh(edition, caller);
    },
    onChange(given) {
      // Two catalogs may be given the same one.
      const listener = () => given();
      listeners.add(listener);
      edition.listeners.add(listener);
      return () => {
        listeners.delete(listener);
        edition.listeners.delete(listener);
      };
    },
    close() {
      for (const listener of listeners) edition.listeners.delete(listener);
      listeners.clear();
    },
  };
  return { searchable, current: () => edition };
}
