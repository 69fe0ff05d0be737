/** The search without a catalog: the airports with scheduled service, their cities and countries. */
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { coreOf, openCore, type ThreadCore } from "./core.ts";
import { catalogOf, searchOf } from "./handle.ts";
import { type Kind, Library } from "./library.ts";
import { check, hasCrypto, readCaller } from "./options.ts";
import { fetchFile } from "./search-files.ts";
import { type CityNamesFile, isCityNamesFile, readCityNames } from "./search/city-names.ts";
import { isOtherNames, type OtherNames } from "./search/search-index.ts";
import { isServedFile, joinServed, type ServedFile } from "./search/served.ts";
import { NO_STORE, type Store } from "./store.ts";

/** That of the contract. */
const DEFAULT_LANGUAGE = "en";

const PLACES: Kind = {
  name: "places",
  areNamesAlwaysWanted: false,
  files: ["cities"],
  fetchFile,
  async fetchMain(source, before) {
    return { files: { served: await fetchFile(source, "served", before?.files.served) } };
  },
  async join({ files: { served, cities } }) {
    if (!served) throw new Error("there are no places"); // which fetchMain excludes
    return joinServed(served.content, readCityNames(cities?.content));
  },
  languageOf: (_, locale) => knownLanguage(locale) ?? DEFAULT_LANGUAGE,
};

/** Undefined if the platform names no countries in it. */
function knownLanguage(locale: string): string | undefined {
  try {
    return Intl.DisplayNames.supportedLocalesOf(locale.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

/** Opens it in this thread: the stored one, or else it is fetched. */
export async function openPlaces(
  options: OpenOptions,
  store: Store,
  lazyNames = true,
): Promise<ThreadCore> {
  const caller = readCaller(options, { lazyNames });
  return openCore(PLACES, caller, hasCrypto() ? store : NO_STORE);
}

/** The same, as a caller gets it. */
export async function openSearchIn(
  ...given: Parameters<typeof openPlaces>
): Promise<LocationsSearch> {
  return searchOf(await openPlaces(...given));
}

/** The contents of files that a service has. */
export interface SearchData {
  /** Of `/search/v1/served.json`. */
  readonly served: ServedFile;
  /** Of `/search/v1/names.json`. Without it, names in other languages find nothing. */
  readonly names?: OtherNames;
  /** Of `/search/v1/cities/<locale>.json`. Without it, cities have their English names. */
  readonly cities?: CityNamesFile;
  /** BCP 47 language tag of the names of countries. Default: "en". */
  readonly locale?: string;
}

/** It has been fetched. */
const DATA: Kind = {
  ...PLACES,
  fetchFile: async (_source, _name, known) => known ?? null,
  fetchMain: async (_, before) => before ?? {},
};

/**
 * Opens places that are there, for tests: without a network, a store and a worker. Its catalog has
 * what `openSearch` finds.
 *
 * @throws CatalogError `invalid_argument` if they are none.
 */
export async function openFrom({
  served,
  names,
  cities,
  locale,
}: SearchData): Promise<LocationsCatalog> {
  check("served", served, isServedFile, "the content of /search/v1/served.json");
  if (names !== undefined)
    check("names", names, isOtherNames, "the content of /search/v1/names.json, or left out");
  if (cities !== undefined)
    check(
      "cities",
      cities,
      isCityNamesFile,
      "the content of /search/v1/cities/<locale>.json, or left out",
    );
  const caller = readCaller({ baseUrl: "https://data.invalid", ...(locale && { locale }) });
  const library = new Library("", NO_STORE, DATA);
  const files = {
    served: { etag: "", content: served },
    names: names ? { etag: "", content: names } : null,
    cities: cities ? { etag: "", content: cities } : null,
  };
  const copy = { version: 0, lookedAt: Date.now(), files };
  const edition = library.adopt(
    copy,
    caller.locale,
    await joinServed(served, readCityNames(cities)),
  );
  const core = coreOf(edition, { library, caller });
  return catalogOf(core, async () => core.shown().places);
}
