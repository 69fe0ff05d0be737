/** Reads a catalog into what the search looks through. Pure: no page, no network. */
import type {
  AirportPlace,
  Catalog,
  CityPlace,
  CountryPlace,
  Place,
  RegionPlace,
} from "../catalog.ts";
import type { Position } from "../distance.ts";
import { foldForSearch } from "./fold.ts";
import { UNRANKED } from "./ranks.ts";
import { isNumbers, isRecord, isTextByKey, isTexts } from "./shape.ts";
import { withSpellings } from "./search-words.ts";
import { WordList } from "./word-list.ts";

/**
 * `/search/v1/names.json`: names of places in other languages, folded as `foldForSearch` does, `|`
 * between them. They find a place after those that have them as their own names.
 */
export interface OtherNames {
  /** By IATA code. */
  readonly airports: { readonly [iata: string]: string };
  /** By id, as a UUID. */
  readonly cities: { readonly [id: string]: string };
  /** In the script of the country, of an airport and its city, by IATA code. */
  readonly local?: { readonly [iata: string]: string };
  /** By slug. */
  readonly regions: { readonly [slug: string]: string };
  /** Codes of subdivisions by slug: `ME` for Maine. They only tell where a place is. */
  readonly regionCodes: { readonly [slug: string]: string };
  readonly nearby?: Resorts;
}

/** Places without an airport; each list has a value for each, because like values compress best. */
interface Resorts {
  /** The place's own name as it is written, and `|` and its others. */
  readonly names: readonly string[];
  /** In hundredths of a degree. */
  readonly lat: readonly number[];
  readonly lon: readonly number[];
  /** IATA codes, with spaces between them. */
  readonly airports: readonly string[];
}

/** A place without an airport, which is among the names of the airports that travellers take. */
export interface Resort extends Position {
  readonly name: string;
  /** All, folded. */
  readonly names: readonly string[];
}

/** Whether a file is one: a service may answer with anything. */
export function isOtherNames(file: unknown): file is OtherNames {
  return (
    isRecord(file) &&
    isTextByKey(file["airports"]) &&
    isTextByKey(file["cities"]) &&
    isTextByKey(file["local"] ?? {}) &&
    isTextByKey(file["regions"]) &&
    isTextByKey(file["regionCodes"]) &&
    isResorts(file["nearby"] ?? { names: [], lat: [], lon: [], airports: [] })
  );
}

function isResorts(value: unknown): value is Resorts {
  return (
    isRecord(value) &&
    [value["names"], value["airports"]].every(isTexts) &&
    [value["lat"], value["lon"]].every(isNumbers)
  );
}

/** A place as it is searched; its texts are folded. */
export interface Entry {
  readonly kind: Place["kind"];
  readonly codes: readonly string[];
  readonly names: readonly string[];
  readonly aliases: readonly string[];
  /** From 0 for a strip in the country to 1 for the busiest airport. */
  readonly size: number;
  /** Positions of its city, its country and its regions, whose names say where it is. */
  readonly parents: readonly number[];
}

/** The search index of one answer. */
export interface SearchIndex {
  readonly places: readonly Place[];
  readonly positionOf: ReadonlyMap<Place, number>;
  hasOtherNames: boolean;
  entries: readonly Entry[];
  names: WordList;
  aliases: WordList;
  /** The positions of what lies in each place. */
  readonly within: readonly (readonly number[])[];
  /** Positions by code. */
  readonly codes: ReadonlyMap<string, readonly number[]>;
  /** Positions of the regions that a code means beside another name. */
  regionCodes: ReadonlyMap<string, readonly number[]>;
  /** By IATA code of the airports that travellers take. */
  resorts: ReadonlyMap<string, readonly Resort[]>;
  /** Names of several words, by what they are without the spaces. */
  readonly unspaced: Map<string, string>;
  /** Names of several words without the spaces, those in other languages left out. */
  readonly unspacedNames: WordList;
}

/** What people call countries, besides their names in the catalog and in the reader's language. */
const COUNTRY_ALIASES: { readonly [code: string]: readonly string[] } = {
  AE: ["UAE"],
  CD: ["DRC"],
  CI: ["Ivory Coast"],
  CV: ["Kapverden"],
  CZ: ["Czech Republic"],
  GB: ["UK", "Great Britain"],
  IR: ["Persia"],
  KR: ["Korea"],
  LK: ["Ceylon"],
  MM: ["Burma"],
  NL: ["Holland"],
  SZ: ["Swaziland"],
  TH: ["Siam"],
  TR: ["Turkey"],
  US: ["USA", "America"],
};

/** All places in the order of the index. */
export function listPlaces({ airports, cities, countries, regions }: Catalog): Place[] {
  return [...airports, ...cities, ...countries, ...regions];
}

/** Folds all names and codes of the catalog. `countryName` names a country in the reader's language. */
export function createSearchIndex(
  catalog: Catalog,
  countryName: (country: CountryPlace) => string,
): SearchIndex {
  const places = listPlaces(catalog);
  const positionOf = new Map(places.map((place, position) => [place, position]));
  const sizes = new Sizes(catalog);
  const entries = places.map((place): Entry => {
    const { codes, names } = textsOf(place, countryName);
    return {
      kind: place.kind,
      codes: foldAll(codes),
      names: foldAll(names),
      aliases: foldAll(closedNames(place)),
      size: sizes.of(place),
      parents: parentsOf(place).map((parent) => positionOf.get(parent) ?? 0),
    };
  });
  const unspaced = new Map<string, string>();
  for (const { names, aliases } of entries) addWithoutSpaces(unspaced, [...names, ...aliases]);
  const within: number[][] = places.map(() => []);
  for (const [position, { parents }] of entries.entries())
    for (const parent of parents) within[parent]?.push(position);
  return {
    places,
    positionOf,
    hasOtherNames: false,
    entries,
    within,
    names: new WordList(entries.map(({ names }) => names)),
    aliases: new WordList(entries.map(({ aliases }) => aliases)),
    codes: positionsBy(entries.map(({ codes }) => codes)),
    regionCodes: new Map(),
    resorts: new Map(),
    unspaced,
    unspacedNames: new WordList(
      entries.map(({ names }) => names.filter(isOfSeveralWords).map(withoutSpace)),
    ),
  };
}

/** Adds the names of places in other languages. */
export function addOtherNames(
  index: SearchIndex,
  { names, countryNames }: { names: OtherNames; countryNames: (code: string) => string[] },
): void {
  index.hasOtherNames = true;
  index.resorts = resortsByAirport(names.nearby);
  const aliasesOf = (place: Place): string[] => {
    switch (place.kind) {
      case "airport": {
        const resorts = index.resorts.get(place.iata) ?? [];
        const own = namesIn(names.airports[place.iata], names.local?.[place.iata]);
        return [...own, ...resorts.flatMap((resort) => resort.names)];
      }
      case "city": {
        const local = place.airports.map(({ iata }) => names.local?.[iata]);
        return namesIn(names.cities[place.id], ...local);
      }
      case "country":
        return countryNames(place.code).map(foldForSearch);
      case "region":
        return names.regions[place.slug]?.split("|") ?? [];
      default:
        return place satisfies never;
    }
  };
  index.entries = index.entries.map((entry, position) => {
    const place = index.places[position];
    if (place === undefined) return entry;
    const closed = closedNames(place).map(foldForSearch);
    return { ...entry, aliases: withSpellings([...closed, ...aliasesOf(place)]) };
  });
  index.aliases = new WordList(index.entries.map(({ aliases }) => aliases));
  index.regionCodes = positionsBy(
    index.places.map((place) => {
      const code = place.kind === "region" ? names.regionCodes[place.slug] : undefined;
      return code === undefined ? [] : [foldForSearch(code)];
    }),
  );
  for (const { aliases } of index.entries) addWithoutSpaces(index.unspaced, aliases);
}

function resortsByAirport(resorts: Resorts | undefined): ReadonlyMap<string, readonly Resort[]> {
  const byAirport = new Map<string, Resort[]>();
  for (const [at, column] of (resorts?.names ?? []).entries()) {
    const [name = "", ...others] = column.split("|");
    const [lat = NaN, lon = NaN] = [resorts?.lat[at], resorts?.lon[at]];
    const resort = {
      name,
      names: [foldForSearch(name), ...others],
      lat: lat / 100,
      lon: lon / 100,
    };
    for (const iata of resorts?.airports[at]?.split(" ") ?? [])
      byAirport.set(iata, [...(byAirport.get(iata) ?? []), resort]);
  }
  return byAirport;
}

function namesIn(...columns: readonly (string | undefined)[]): string[] {
  return columns.flatMap((column) => column?.split("|") ?? []);
}

function textsOf(
  place: Place,
  countryName: (country: CountryPlace) => string,
): { readonly codes: readonly string[]; readonly names: readonly string[] } {
  switch (place.kind) {
    case "airport":
      return {
        codes: [place.iata, place.icao, ...place.replaces.map(({ iata }) => iata)],
        names: [place.name, place.officialName],
      };
    case "city":
      return { codes: place.codes, names: [place.name, place.nameLocal, ...localNames(place)] };
    case "country": {
      const { code, code3, name, nameNative } = place;
      const names = [name, nameNative, countryName(place), ...(COUNTRY_ALIASES[code] ?? [])];
      return { codes: [code, code3], names };
    }
    case "region":
      return { codes: [], names: [place.name, place.nameEnglish, place.slugLocalized] };
    default:
      return place satisfies never;
  }
}

/** The names of closed airports, by which their successor is found. */
function closedNames(place: Place): string[] {
  if (place.kind !== "airport") return [];
  return place.replaces.flatMap(({ name, names }) => [name, ...names]);
}

/** A city that has the name of its region in English (Vienna) has it in the other languages (Wien). */
function localNames({ name, airports }: CityPlace): string[] {
  return airports
    .flatMap(({ regions }) => regions)
    .filter(({ nameEnglish }) => nameEnglish === name)
    .map((region) => region.name);
}

/** What says where a place is; of an airport, its city comes first. */
function parentsOf(place: Place): Place[] {
  switch (place.kind) {
    case "airport":
      return [place.city, place.city.country, ...place.regions];
    case "city":
      return [place.country, ...new Set(place.airports.flatMap(({ regions }) => regions))];
    case "country":
      return [];
    case "region": {
      const countries = new Set(place.airports.map(({ city }) => city.country));
      return countries.size === 1 ? [...countries] : [];
    }
    default:
      return place satisfies never;
  }
}

/** Measures places by the traffic of their airports, and by how many people live there. */
class Sizes {
  readonly #lastAirport: number;
  readonly #lastCity: number;

  constructor({ airports, cities }: Catalog) {
    const ranked = (places: readonly { readonly rank: number }[]) =>
      places.reduce((last, { rank }) => (rank === UNRANKED ? last : Math.max(last, rank)), 1);
    this.#lastAirport = ranked(airports);
    this.#lastCity = ranked(cities);
  }

  /** From 0 for a strip in the country to a little over 1 for a metropolis. */
  of(place: Place): number {
    switch (place.kind) {
      case "airport":
        return this.#airport(place);
      case "city": {
        const people = this.#people(place);
        // A little more than its airports, which follow it.
        return Math.max(people / 2, this.#busiest(place)) + 0.03 + people / 5;
      }
      case "country":
        return 0.3 + 0.7 * this.#busiest(place);
      case "region":
        return (isNamedAfterCity(place) ? 0.5 : 0.9) * this.#busiest(place);
      default:
        return place satisfies never;
    }
  }

  #airport({ rank, city }: AirportPlace): number {
    if (rank === UNRANKED) return this.#people(city) / 10;
    return 1 - 0.9 * Math.sqrt(rank / this.#lastAirport);
  }

  #people({ rank }: CityPlace): number {
    return rank === UNRANKED ? 0 : 1 - Math.sqrt(rank / this.#lastCity);
  }

  #busiest({ airports }: Exclude<Place, AirportPlace>): number {
    return airports.reduce((most, airport) => Math.max(most, this.#airport(airport)), 0);
  }
}

/** The city itself says more. */
function isNamedAfterCity({ nameEnglish, airports }: RegionPlace): boolean {
  const name = foldForSearch(nameEnglish);
  return airports.some(({ city }) =>
    withSpellings([foldForSearch(city.name)]).some((own) => withSpellings([name]).includes(own)),
  );
}

function foldAll(texts: readonly string[]): string[] {
  return withSpellings(texts.map(foldForSearch).filter((text) => text !== ""));
}

function positionsBy(codesOf: readonly (readonly string[])[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, codes] of codesOf.entries())
    for (const code of codes) positions.set(code, [...(positions.get(code) ?? []), position]);
  return positions;
}

function addWithoutSpaces(unspaced: Map<string, string>, names: readonly string[]): void {
  for (const name of names) if (isOfSeveralWords(name)) unspaced.set(withoutSpace(name), name);
}

function isOfSeveralWords(name: string): boolean {
  return name.includes(" ");
}

function withoutSpace(name: string): string {
  return name.replaceAll(" ", "");
}
