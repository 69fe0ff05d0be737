/** The search without a catalog: the airports with scheduled service, their cities and countries. */
import type { LocationsCatalog, LocationsSearch, OpenOptions } from "./api.ts";
import { frozen } from "./catalog.ts";
import { coreOf, openCore, type ThreadCore } from "./core.ts";
import { catalogOf, searchOf } from "./handle.ts";
import { type Kind, Library } from "./library.ts";
import { check, type Defaults, hasCrypto, readCaller } from "./options.ts";
import { fetchFile, type KnownFiles } from "./search-files.ts";
import { type CityNamesFile, isCityNamesFile, readCityNames } from "./search/city-names.ts";
import { isOtherNames, type OtherNames } from "./search/search-index.ts";
import { isRecord } from "./search/shape.ts";
import { isServedFile, joinServed, type ServedFile } from "./search/served.ts";
import { NO_STORE, type Store } from "./store.ts";
import { knownLanguage } from "./suggestion.ts";

/** The language of the contract. */
const DEFAULT_LANGUAGE = "en";

const PLACES: Kind = {
  name: "places",
  isMainShared: true,
  areNamesAlwaysWanted: false,
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

/** Opens it in this thread: the stored one, or else it is fetched. */
export async function openPlaces(
  options: OpenOptions,
  store: Store,
  defaults?: Defaults,
): Promise<ThreadCore> {
  const caller = readCaller(options, { lazyNames: true, ...defaults });
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

/**
 * Opens the contents of files, for tests: without a network, a store and a worker. The catalog has the
 * places of `openSearch`.
 *
 * @throws CatalogError `invalid_argument` if an argument is misused, or a content has another form.
 */
export async function openFrom(data: SearchData): Promise<LocationsCatalog> {
  check("the data", data, isRecord, "an object such as { served }");
  const { served, names, cities, locale } = data;
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
  const caller = readCaller({
    baseUrl: "https://data.invalid",
    ...(locale !== undefined && { locale }),
  });
  const files: KnownFiles = {
    served: { etag: "", content: served },
    names: names ? { etag: "", content: names } : null,
    cities: cities ? { etag: "", content: cities } : null,
  };
  const kind: Kind = {
    ...PLACES,
    fetchFile: async (source, name) =>
      name === "cities" && source.locale !== caller.locale ? null : (files[name] ?? null),
    fetchMain: async () => ({ files: { served: files.served ?? null } }),
    join: async (copy) => frozen(await PLACES.join(copy)),
  };
  const library = new Library("", NO_STORE, kind);
  const core = coreOf(await library.open(caller.locale, caller), { library, caller });
  return catalogOf(core, core.places);
}
