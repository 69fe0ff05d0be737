import { cityNameLocale, type CityNamesFile } from "../../client/src/search/city-names.ts";
import { readKana } from "../../client/src/search/kana.ts";
import { foldQuery } from "../../client/src/search/search-words.ts";
import { type CountryNames, countryNamesIn, type Suggestion } from "../../client/src/suggestion.ts";
import { type LocalNames, Places, PLACES_PATH } from "./places.ts";
import { type Hit, HITS_MAX, hitsIn, shardOf, shardPath } from "./shard.ts";

/** Of the files in memory: the places, and those of the letters and languages that were used last. */
export const FILES_MAX_BYTES = 450_000;
const LANGUAGES_CACHED = 4;
const DEFAULT_LANGUAGE = "en";
const CODE_LENGTH = 3;
/** As in the package's search. */
const TYPED_LENGTH_MAX = 80;

type ReadAsset = (path: string) => Promise<ArrayBuffer>;

export interface Wanted {
  readonly typed: string;
  /** Canonical BCP 47 tag. */
  readonly locale: string;
  readonly limit: number;
}

export interface Suggestions {
  /** Of the names of countries. */
  readonly language: string;
  readonly suggestions: readonly Suggestion[];
}

export type Suggest = (wanted: Wanted) => Promise<Suggestions>;

/** Suggests what is called as a text begins, as the package's search does. Rejects if a file cannot be read. */
export class Suggester {
  readonly #readAsset: ReadAsset;
  /** What was used last comes last. */
  readonly #files = new Map<string, ArrayBuffer>();
  readonly #countryNames = new Map<string, CountryNames>();
  #places: Places | undefined;

  constructor(readAsset: ReadAsset) {
    this.#readAsset = readAsset;
  }

  async suggest({ typed: text, locale, limit }: Wanted): Promise<Suggestions> {
    const typed = text.slice(0, TYPED_LENGTH_MAX);
    const buffer = await this.#file(PLACES_PATH);
    const places = (this.#places ??= new Places(buffer));
    const [language = DEFAULT_LANGUAGE] = Intl.DisplayNames.supportedLocalesOf(locale);
    const names = {
      countryName: this.#namesOfCountries(language),
      cityName: await this.#namesOfCities(locale),
    };
    const hits = await this.#hits(places, typed);
    const listed = places.withAirports(hits).slice(0, Math.min(limit, HITS_MAX));
    return { language, suggestions: listed.map((hit) => places.suggestion(hit, typed, names)) };
  }

  async #hits(places: Places, typed: string): Promise<Hit[]> {
    for (const text of [foldQuery(typed), readKana(typed) ?? []].flat()) {
      const shard = shardOf(text);
      const hits = places.hasShard(shard) ? hitsIn(await this.#file(shardPath(shard)), text) : [];
      if (hits.length > 0) return hits;
    }
    return [];
  }

  #namesOfCountries(language: string): CountryNames {
    const known = this.#countryNames.get(language) ?? countryNamesIn(language);
    useLast(this.#countryNames, language, known);
    const [oldest = ""] = this.#countryNames.keys();
    if (this.#countryNames.size > LANGUAGES_CACHED) this.#countryNames.delete(oldest);
    return known;
  }

  /** Finds names in the texts of the file: a map of them would take four times their memory. */
  async #namesOfCities(locale: string): Promise<LocalNames["cityName"]> {
    const file = cityNameLocale(locale);
    if (file === undefined) return () => undefined;
    const bytes = await this.#file(`search/v1/cities/${file}.json`);
    const { airports, names: all }: CityNamesFile = JSON.parse(new TextDecoder().decode(bytes));
    const names = all.split("|");
    return (iata) => {
      let at = airports.indexOf(iata);
      while (at % CODE_LENGTH > 0) at = airports.indexOf(iata, at + 1);
      return names[at / CODE_LENGTH];
    };
  }

  /** Shares only what has come: the promise of another request may never settle. */
  async #file(path: string): Promise<ArrayBuffer> {
    const file = this.#files.get(path) ?? (await this.#readAsset(path));
    useLast(this.#files, path, file);
    let bytes = 0;
    for (const [other, { byteLength }] of [...this.#files].toReversed()) {
      bytes += byteLength;
      if (bytes > FILES_MAX_BYTES) this.#files.delete(other);
    }
    return file;
  }
}

function useLast<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  cache.delete(key);
  cache.set(key, value);
}
