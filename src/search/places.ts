/**
 * The places that are suggested: a static asset, which `web/build/suggestions.ts` makes, and which is
 * read where it lies, because parsed it would take ten times the memory. Pure.
 *
 * It is the length of a head (u32), the head in JSON, columns of 16 bits, the IATA codes, and a line for
 * each airport and each city: its id and its English name. Numbers are little-endian, as Workers are.
 */
import { matchedIn, type Suggestion } from "../../client/src/suggestion.ts";
import { Lines } from "./lines.ts";
import type { Hit } from "./shard.ts";

export const PLACES_PATH = "search/suggestions/places.bin";
/** Of an id that begins as most do, so many last digits are written, without zeros before them. */
export const ID_END_LENGTH = 12;
/** In the name of an airport, a sign stands for the city, and others for the usual ends. */
export const CITY_SIGN = "*";
export const NAME_ENDS: readonly (readonly [sign: string, end: string])[] = [
  ["^", " International Airport"],
  ["~", " Airport"],
];

/** The short lists, and how many there are of the others. */
export interface PlacesHead {
  readonly airports: number;
  readonly cities: number;
  /** How most ids of airports and of cities begin. */
  readonly idStarts: readonly string[];
  readonly countries: readonly (readonly [id: string, code: string])[];
  readonly regions: readonly {
    readonly id: string;
    readonly name: string;
    /** -1 for one of several countries. */
    readonly country: number;
    /** The busiest first. */
    readonly airports: readonly number[];
  }[];
  /** The region that tells a city apart from others of its name. */
  readonly regionOf: { readonly [city: number]: number };
  readonly zones: readonly string[];
  readonly shards: readonly string[];
  /** Those that have names, as keys. */
  readonly locales: { readonly [locale: string]: true };
  /** Of every sixteenth line, in bytes. */
  readonly lineStarts: readonly number[];
}

/**
 * What readers of a language call places, as a file for each locale has it: the platform's own names of
 * countries take 11 ms to be loaded.
 */
export interface LocalNames {
  readonly countries: readonly string[];
  /** By position, those that differ from English. */
  readonly cities: { readonly [city: number]: string };
}

export function namesPath(locale: string): string {
  return `search/suggestions/names/${locale}.json`;
}

const CODE_LENGTH = 3;
const AREA = { position: null, timeZone: null };

/** A place without what the text adds to it. */
type PlaceFields = Omit<Suggestion, "matched" | "isUnderCity">;

export class Places {
  readonly #head: PlacesHead;
  readonly #cityOf: Uint16Array;
  readonly #zoneOf: Uint16Array;
  /** In hundredths of a degree. */
  readonly #latOf: Int16Array;
  readonly #lonOf: Int16Array;
  readonly #countryOf: Uint16Array;
  readonly #codes: string;
  readonly #lines: Lines;

  constructor(buffer: ArrayBuffer) {
    const text = (start: number, length: number) =>
      new TextDecoder().decode(new Uint8Array(buffer, start, length));
    const headBytes = new DataView(buffer).getUint32(0, true);
    const head: PlacesHead = JSON.parse(text(4, headBytes));
    const { airports, cities } = head;
    let end = 4 + headBytes;
    const take = (bytes: number) => (end += bytes) - bytes;
    this.#head = head;
    this.#cityOf = new Uint16Array(buffer, take(2 * airports), airports);
    this.#zoneOf = new Uint16Array(buffer, take(2 * airports), airports);
    this.#latOf = new Int16Array(buffer, take(2 * airports), airports);
    this.#lonOf = new Int16Array(buffer, take(2 * airports), airports);
    this.#countryOf = new Uint16Array(buffer, take(2 * cities), cities);
    this.#codes = text(take(CODE_LENGTH * airports), CODE_LENGTH * airports);
    this.#lines = new Lines(new Uint8Array(buffer, end), head.lineStarts);
  }

  /** Those that have names, as keys. */
  get locales(): PlacesHead["locales"] {
    return this.#head.locales;
  }

  hasShard(shard: string): boolean {
    return this.#head.shards.includes(shard);
  }

  /** Lists after a city its airports, where all of them follow. */
  withAirports(hits: readonly Hit[]): Hit[] {
    const { airports } = this.#head;
    return hits.flatMap((hit): Hit[] => {
      if (!hit.isUnderCity || hit.position < airports) return [hit];
      const under = this.#airportsOf(hit.position - airports);
      return [
        { ...hit, isUnderCity: false },
        ...under.map((position) => ({ position, isUnderCity: true, extra: {} })),
      ];
    });
  }

  /** A hit as a picker lists it. */
  suggestion({ position, isUnderCity, extra }: Hit, typed: string, names: LocalNames): Suggestion {
    const place = this.#placeAt(position, names);
    return { ...place, matched: matchedIn(place.name, typed), isUnderCity, ...extra };
  }

  #placeAt(position: number, names: LocalNames): PlaceFields {
    const { airports, cities, countries } = this.#head;
    if (position < airports) return this.#airport(position, names);
    const city = position - airports;
    if (city < cities) return this.#city(city, names);
    const country = city - cities;
    if (country < countries.length) return this.#country(country, names);
    return this.#region(country - countries.length, names);
  }

  #airport(airport: number, names: LocalNames): PlaceFields {
    const [id, short] = this.#idAndName(airport);
    const city = this.#cityOf[airport] ?? -1;
    const [, english] = this.#idAndName(this.#head.airports + city);
    const { code, countryName } = this.#namesOfCountry(this.#countryOf[city], names);
    return {
      kind: "airport",
      id,
      name: longName(short, english),
      where: `${this.#nameOfCity(city, names)}, ${countryName}`,
      countryCode: code,
      position: this.#positionOf(airport),
      airports: [this.#codeOf(airport)],
      timeZone: this.#timeZoneOf(airport),
    };
  }

  #city(city: number, names: LocalNames): PlaceFields {
    const { airports, regions, regionOf } = this.#head;
    const own = this.#airportsOf(city);
    const busiest = own[0] ?? -1;
    const { code, countryName } = this.#namesOfCountry(this.#countryOf[city], names);
    const region = regions[regionOf[city] ?? -1];
    return {
      kind: "city",
      id: this.#idAndName(airports + city)[0],
      name: this.#nameOfCity(city, names),
      where: region ? `${region.name}, ${countryName}` : countryName,
      countryCode: code,
      position: this.#positionOf(busiest),
      airports: own.map((airport) => this.#codeOf(airport)),
      timeZone: this.#timeZoneOf(busiest),
    };
  }

  #country(country: number, names: LocalNames): PlaceFields {
    const { code, countryName } = this.#namesOfCountry(country, names);
    const own = this.#airportsIn(country);
    return {
      ...AREA,
      kind: "country",
      id: this.#head.countries[country]?.[0] ?? "",
      name: countryName,
      where: "",
      countryCode: code,
      airports: own.map((airport) => this.#codeOf(airport)),
    };
  }

  #region(region: number, names: LocalNames): PlaceFields {
    const { id = "", name = "", country, airports = [] } = this.#head.regions[region] ?? {};
    const { code, countryName } = this.#namesOfCountry(country, names);
    return {
      ...AREA,
      kind: "region",
      id,
      name,
      where: countryName,
      countryCode: code,
      airports: airports.map((airport) => this.#codeOf(airport)),
    };
  }

  #namesOfCountry(country = -1, { countries }: LocalNames) {
    const code = this.#head.countries[country]?.[1] ?? null;
    return { code, countryName: countries[country] ?? "" };
  }

  #nameOfCity(city: number, { cities }: LocalNames): string {
    return cities[city] ?? this.#idAndName(this.#head.airports + city)[1];
  }

  /** The airports of a city, the busiest first. */
  #airportsOf(city: number): number[] {
    const found: number[] = [];
    for (let at = this.#cityOf.indexOf(city); at >= 0; at = this.#cityOf.indexOf(city, at + 1))
      found.push(at);
    return found;
  }

  #airportsIn(country: number): number[] {
    const found: number[] = [];
    for (let airport = 0; airport < this.#cityOf.length; airport++)
      if (this.#countryOf[this.#cityOf[airport] ?? -1] === country) found.push(airport);
    return found;
  }

  #codeOf(airport: number): string {
    return this.#codes.slice(airport * CODE_LENGTH, (airport + 1) * CODE_LENGTH);
  }

  #positionOf(airport: number): Suggestion["position"] {
    return { lat: (this.#latOf[airport] ?? 0) / 100, lon: (this.#lonOf[airport] ?? 0) / 100 };
  }

  #timeZoneOf(airport: number): string | null {
    return this.#head.zones[this.#zoneOf[airport] ?? -1] || null;
  }

  /** The id and the English name of an airport, or of a city after them. */
  #idAndName(position: number): readonly [id: string, name: string] {
    const { airports, idStarts } = this.#head;
    const [id = "", name = ""] = this.#lines.at(position).split("\t");
    const isWhole = id.length > ID_END_LENGTH;
    const start = idStarts[position < airports ? 0 : 1] ?? "";
    return [isWhole ? id : start + id.padStart(ID_END_LENGTH, "0"), name];
  }
}

function longName(short: string, city: string): string {
  let name = short;
  for (const [sign, end] of NAME_ENDS) name = name.replace(sign, end);
  return name.replace(CITY_SIGN, () => city);
}
