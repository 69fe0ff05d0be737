/** Makes the files of `/search/v1/suggest`, whose forms `src/search/` describes. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { build } from "esbuild";
import type { Catalog, Place } from "../../client/src/catalog.ts";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { type CityNamesFile, readCityNames } from "../../client/src/search/city-names.ts";
import { countryNames } from "../../client/src/search/country-names.ts";
import { search } from "../../client/src/search/search.ts";
import {
  addOtherNames,
  createSearchIndex,
  type OtherNames,
  type SearchIndex,
} from "../../client/src/search/search-index.ts";
import { foldQuery } from "../../client/src/search/search-words.ts";
import { joinServed, type ServedFile } from "../../client/src/search/served.ts";
import { countryNamesIn, subdivisionOf, suggestionOf } from "../../client/src/suggestion.ts";
import { LINES_STEP } from "../../src/search/lines.ts";
import {
  CITY_SIGN,
  ID_END_LENGTH,
  type LocalNames,
  NAME_ENDS,
  namesPath,
  PLACES_PATH,
  type PlacesHead,
} from "../../src/search/places.ts";
import {
  HAS_CHILDREN,
  HAS_EXTRA,
  HAS_HITS,
  HITS_MAX,
  IS_UNDER_CITY,
  LETTERS_MAX,
  POSITIONS_MAX,
  shardOf,
  shardPath,
} from "../../src/search/shard.ts";

/** By path. */
type Files = ReadonlyMap<string, Uint8Array>;

/** The files of `/search/v1`. */
interface SearchFiles {
  readonly served: ServedFile;
  readonly names: OtherNames;
  readonly cities: ReadonlyMap<string, CityNamesFile>;
}

/** Has the files that were made last, and the hash of what they were made of. */
const CACHE = "dist/suggestions";

/** Makes them, or returns the last ones if neither places nor code have changed: it takes seconds. */
export async function suggestionFiles(data: SearchFiles): Promise<Files> {
  const hash = createHash("sha256").update(
    JSON.stringify([data.served, data.names, [...data.cities]]),
  );
  for (const path of await modules()) hash.update(readFileSync(path));
  const inputs = hash.digest("hex");
  const cached: { inputs: string; files: Files } | undefined = existsSync(CACHE)
    ? deserialize(readFileSync(CACHE))
    : undefined;
  if (cached?.inputs === inputs) return cached.files;
  const files = await makeFiles(data);
  writeFileSync(CACHE, serialize({ inputs, files }));
  return files;
}

/** This module, and all that it imports. */
async function modules(): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: ["web/build/suggestions.ts"],
    bundle: true,
    metafile: true,
    packages: "external",
    platform: "node",
    write: false,
  });
  return Object.keys(metafile.inputs);
}

const { locales } = manifest;
const inEnglish = countryNamesIn("en");
const WORDING = { isUnderCity: false, countryName: inEnglish };

async function makeFiles({ served, names, cities }: SearchFiles): Promise<Files> {
  const catalog = await joinServed(served);
  const index = createSearchIndex(catalog, inEnglish);
  addOtherNames(index, { names, countryNames });
  if (index.places.length > POSITIONS_MAX) throw new Error("a hit has room for 16,384 places");
  const keys = Map.groupBy(keysOf(index), shardOf);
  const extras = new Extras(index);
  const places = placesFile(catalog, index, [...keys.keys()]);
  const localNames = await Promise.all(
    locales.map(async ({ locale }) => {
      const local = await joinServed(served, readCityNames(cities.get(locale)));
      return [namesPath(locale), Buffer.from(JSON.stringify(namesIn(locale, local)))] as const;
    }),
  );
  return new Map<string, Uint8Array>([
    [PLACES_PATH, places],
    ...localNames,
    ...[...keys].map(
      ([name, own]) => [shardPath(name), new Shard(index, own, extras).make()] as const,
    ),
  ]);
}

function placesFile(catalog: Catalog, index: SearchIndex, shards: readonly string[]): Buffer {
  const { airports, cities, countries, regions } = catalog;
  const at = (place: Place) => index.positionOf.get(place) ?? -1;
  const cityAt = (city: Place) => at(city) - airports.length;
  const countryAt = (country: Place) => cityAt(country) - cities.length;
  const regionAt = (region: Place) => countryAt(region) - countries.length;
  const zones = [...new Set(airports.map(({ timeZone }) => timeZone))];
  const idStarts = [airports, cities].map(([first]) => first?.id.slice(0, -ID_END_LENGTH) ?? "");
  const lines = [
    ...airports.map(
      ({ id, name, city }) => `${shortId(id, idStarts[0])}\t${shortName(name, city.name)}`,
    ),
    ...cities.map(({ id, name }) => `${shortId(id, idStarts[1])}\t${name}`),
  ];
  const head: PlacesHead = {
    airports: airports.length,
    cities: cities.length,
    idStarts,
    countries: countries.map(({ id, code }) => [id, code]),
    regions: regions.map((region) => {
      const { countryCode } = suggestionOf(region, WORDING);
      const country = countries.findIndex(({ code }) => code === countryCode);
      const { id, name } = region;
      return { id, name, country, airports: region.airports.map(at).toSorted(ascending) };
    }),
    regionOf: Object.fromEntries(
      cities.flatMap((city) => {
        const region = subdivisionOf(city);
        return region ? [[cityAt(city), regionAt(region)]] : [];
      }),
    ),
    zones,
    shards,
    locales: Object.fromEntries(locales.map(({ locale }) => [locale, true])),
    lineStarts: lines.flatMap((_, line) =>
      line % LINES_STEP === 0 ? [linesOf(lines.slice(0, line)).length] : [],
    ),
  };
  const hundredths = (degrees: number) => Math.round(degrees * 100);
  const columns = [
    Uint16Array.from(airports, ({ city }) => cityAt(city)),
    Uint16Array.from(airports, ({ timeZone }) => zones.indexOf(timeZone)),
    Int16Array.from(airports, ({ lat }) => hundredths(lat)),
    Int16Array.from(airports, ({ lon }) => hundredths(lon)),
    Uint16Array.from(cities, ({ country }) => countryAt(country)),
  ];
  // Columns of 16 bits may follow only an even number of bytes.
  const headText = JSON.stringify(head);
  return Buffer.concat([
    withLength(Buffer.from(Buffer.byteLength(headText) % 2 === 0 ? headText : `${headText} `)),
    ...columns.map(({ buffer }) => new Uint8Array(buffer)),
    Buffer.from(airports.map(({ iata }) => iata).join("")),
    linesOf(lines),
  ]);
}

/** The names in a locale, as the package has them. */
function namesIn(locale: string, { countries, cities }: Catalog): LocalNames {
  const countryName = countryNamesIn(Intl.DisplayNames.supportedLocalesOf(locale)[0] ?? "en");
  return {
    countries: countries.map(countryName),
    cities: Object.fromEntries(
      cities.flatMap(({ name, nameLocal }, at) => (nameLocal === name ? [] : [[at, nameLocal]])),
    ),
  };
}

/** Leaves out of an id what it has in common with most. */
function shortId(id: string, start = ""): string {
  return id.startsWith(start) ? id.slice(start.length).replace(/^0+/, "") : id;
}

function shortName(name: string, city: string): string {
  const short = name.replace(city, CITY_SIGN);
  const [sign, end] = NAME_ENDS.find(([, usual]) => short.endsWith(usual)) ?? ["", ""];
  return short.slice(0, short.length - end.length) + sign;
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function linesOf(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(""));
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** All that places are found by, from each of its words on, in code-unit order. */
function keysOf({ entries }: SearchIndex): string[] {
  const keys = new Set<string>();
  for (const { codes, names, aliases } of entries)
    for (const text of [...codes, ...names, ...aliases])
      for (let rest = text; ; rest = rest.slice(rest.indexOf(" ") + 1)) {
        // A query has a space before some words for an airport.
        keys.add(rest).add(foldQuery(rest));
        if (!rest.includes(" ")) break;
      }
  return [...keys].toSorted();
}

/** Hits, 16 bits each, and extras, as many. */
type Hits = readonly number[];

/** Some of the sorted keys: those that begin with the same letters. */
interface Range {
  readonly from: number;
  readonly to: number;
  /** How many letters. */
  readonly length: number;
  /** Of these letters. */
  readonly hits: Hits;
}

/** Searches the beginnings of what places are found by. */
class Shard {
  readonly #index: SearchIndex;
  readonly #keys: readonly string[];
  readonly #found = new Map<string, Hits>();
  /** Positions of extras by their text. */
  readonly #extras = new Map<string, number>();
  readonly #allExtras: Extras;

  constructor(index: SearchIndex, keys: readonly string[], extras: Extras) {
    this.#index = index;
    this.#keys = keys;
    this.#allExtras = extras;
  }

  make(): Buffer {
    const nodes = this.#nodes({ from: 0, to: this.#keys.length, length: 0, hits: [] });
    return Buffer.concat([withLength(nodes), linesOf([...this.#extras.keys()])]);
  }

  /** A node for each letter that goes on from those of a range. */
  #nodes({ from, to, length, hits }: Range): Buffer {
    const nodes: Buffer[] = [];
    // A key that ends here sorts before the others.
    let start = from;
    while (start < to && this.#key(start).length === length) start++;
    while (start < to) {
      const letter = letterAt(this.#key(start), length);
      let end = start + 1;
      while (end < to && this.#key(end).startsWith(letter, length)) end++;
      nodes.push(this.#node({ from: start, to: end, length, hits }));
      start = end;
    }
    return Buffer.concat(nodes);
  }

  #node({ from, to, length, hits: above }: Range): Buffer {
    const key = this.#key(from);
    const common = key.slice(0, inCommon(key, this.#key(to - 1)));
    const hits = this.#hitsOf(key.slice(0, length + letterAt(key, length).length));
    const end = this.#endOf(common, { length, hits });
    const letters = Buffer.from(key.slice(length, end));
    const children = this.#nodes({ from, to, length: end, hits });
    const hasHits = !isSame(hits, above);
    const hitBytes = new Uint8Array(Uint16Array.from(hits).buffer);
    const flags = (hasHits ? HAS_HITS : 0) | (children.length > 0 ? HAS_CHILDREN : 0);
    return Buffer.concat([
      Buffer.of(flags | letters.length),
      letters,
      ...(hasHits ? [sizeOf(hitBytes), hitBytes] : []),
      ...(children.length > 0 ? [sizeOf(children), children] : []),
    ]);
  }

  /**
   * Finds how many letters of a text lead to the same hits, within a word. More letters of a word lead to
   * fewer places: between two beginnings that lead to the same, hardly anything changes.
   */
  #endOf(text: string, { length, hits }: Pick<Range, "length" | "hits">): number {
    const ends: number[] = [];
    for (const letter of text.slice(length)) {
      const end = (ends.at(-1) ?? length) + letter.length;
      if (Buffer.byteLength(text.slice(length, end)) > LETTERS_MAX) break;
      ends.push(end);
      if (letter === " ") break;
    }
    const isAsBefore = (end: number) => isSame(this.#hitsOf(text.slice(0, end)), hits);
    let [low, high] = [0, ends.length - 1];
    if (isAsBefore(ends[high] ?? 0)) return ends[high] ?? 0;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (isAsBefore(ends[middle] ?? 0)) low = middle;
      else high = middle;
    }
    return ends[low] ?? 0;
  }

  #hitsOf(text: string): Hits {
    const typed = text.trimEnd();
    const hits = this.#found.get(typed) ?? this.#search(typed);
    this.#found.set(typed, hits);
    return hits;
  }

  #search(text: string): Hits {
    const found = search(this.#index, text, { isExact: true });
    const hits: number[] = [];
    for (let at = 0, listed = 0; at < found.length && listed < HITS_MAX;) {
      const { position = 0, isUnderCity = false } = found[at] ?? {};
      const extra = this.#extraOf(position, text);
      const all = this.#airportsOf(position);
      const follow = found.slice(at + 1, at + 1 + all.length);
      const areAllUnder =
        all.length > 0 &&
        all.every((airport, n) => follow[n]?.position === airport && follow[n].isUnderCity) &&
        all.every((airport) => this.#extraOf(airport, text) === undefined);
      const flag = isUnderCity || areAllUnder ? IS_UNDER_CITY : 0;
      hits.push(
        ...(extra === undefined ? [position | flag] : [position | flag | HAS_EXTRA, extra]),
      );
      const step = areAllUnder ? 1 + all.length : 1;
      [at, listed] = [at + step, listed + step];
    }
    return hits;
  }

  /** The positions of the airports of a city, the busiest first; none of another place. */
  #airportsOf(position: number): number[] {
    const { places, positionOf } = this.#index;
    const place = places[position];
    if (place?.kind !== "city") return [];
    return place.airports.map((airport) => positionOf.get(airport) ?? -1).toSorted(ascending);
  }

  #extraOf(position: number, typed: string): number | undefined {
    const text = this.#allExtras.textOf(position, typed);
    if (text === NO_EXTRA) return undefined;
    const known = this.#extras.get(text) ?? this.#extras.size;
    this.#extras.set(text, known);
    return known;
  }

  #key(at: number): string {
    return this.#keys[at] ?? "";
  }
}

const NO_EXTRA = "{}";

/** What texts add to places, such as the closed airport that they name. */
class Extras {
  readonly #index: SearchIndex;
  readonly #hasAny = new Map<number, boolean>();

  constructor(index: SearchIndex) {
    this.#index = index;
  }

  textOf(position: number, typed: string): string {
    const { aliases = [] } = this.#index.entries[position] ?? {};
    const hasAny =
      this.#hasAny.get(position) ??
      aliases.some((alias) => this.#read(position, alias) !== NO_EXTRA);
    this.#hasAny.set(position, hasAny);
    return hasAny ? this.#read(position, typed) : NO_EXTRA;
  }

  #read(position: number, typed: string): string {
    const { places, resorts } = this.#index;
    const place = places[position];
    if (place?.kind !== "airport") return NO_EXTRA;
    const { replaces, near } = suggestionOf(place, { ...WORDING, typed, resorts });
    return JSON.stringify({ replaces, near });
  }
}

function isSame(a: Hits, b: Hits): boolean {
  return a.length === b.length && a.every((hit, at) => hit === b[at]);
}

/** The code point at a position; empty at the end. */
function letterAt(text: string, at: number): string {
  const letter = text.codePointAt(at);
  return letter === undefined ? "" : String.fromCodePoint(letter);
}

function inCommon(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charAt(length) === b.charAt(length)) length++;
  return length;
}

/** A length in bytes of seven bits, all but the last with the eighth. */
function sizeOf({ length }: Uint8Array): Buffer {
  const bytes = [length % 128];
  for (let rest = length >> 7; rest > 0; rest >>= 7) bytes.unshift(128 | (rest % 128));
  return Buffer.from(bytes);
}
