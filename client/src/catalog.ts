import type { Message } from "@bufbuild/protobuf";
import type { Airport, LocationsResponse } from "../../gen/locations/v1/locations_pb.ts";
import { type ClosedAirport, readRanks, type Ranks, type Tier } from "./search/ranks.ts";
import { uuidText } from "./uuid.ts";

/** An airport; what is not named here is as the contract has it. */
export interface AirportPlace extends Readonly<
  Omit<Airport, keyof Message | "id" | "name" | "cityId">
> {
  readonly kind: "airport";
  /** UUID in its usual text form, as all ids here. */
  readonly id: string;
  /** The official name, as the contract has it. */
  readonly officialName: string;
  /** The name that travellers use. */
  readonly name: string;
  /** Its size: 0 large, 1 medium, 2 small; 3 without scheduled service. */
  readonly tier: Tier;
  readonly hasScheduledService: boolean;
  /** Of the IANA database, such as `Europe/Zurich`; empty without scheduled service. */
  readonly timeZone: string;
  /** 0 for the busiest airport of the world; `UNRANKED` without scheduled service. */
  readonly rank: number;
  /** The closed airports whose flights it has. */
  readonly replaces: readonly ClosedAirport[];
  readonly city: CityPlace;
  /** Smallest first. */
  readonly regions: readonly RegionPlace[];
}

export interface CityPlace {
  readonly kind: "city";
  readonly id: string;
  /** As the contract has it. */
  readonly name: string;
  /** In the language of the answer, where that has another name. */
  readonly nameLocal: string;
  readonly lat: number;
  readonly lon: number;
  /** 0 for the most populous city of the world; `UNRANKED` for small ones. */
  readonly rank: number;
  /** What travellers call all its airports together: `LON`, `NYC`, `LA`. */
  readonly codes: readonly string[];
  /** Whether nothing but its airports puts it into a subdivision, such as Moscow. */
  readonly isApart: boolean;
  readonly country: CountryPlace;
  readonly airports: readonly AirportPlace[];
}

export interface CountryPlace {
  readonly kind: "country";
  readonly id: string;
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  readonly code3: string;
  readonly name: string;
  readonly nameNative: string;
  readonly phonePrefix: string;
  readonly cities: readonly CityPlace[];
  readonly airports: readonly AirportPlace[];
  /** Regions of its airports, smallest first. */
  readonly regions: readonly RegionPlace[];
}

export interface RegionPlace {
  readonly kind: "region";
  readonly id: string;
  readonly slug: string;
  readonly slugLocalized: string;
  /** In the locale of the answer. */
  readonly name: string;
  readonly nameEnglish: string;
  readonly airports: readonly AirportPlace[];
}

export type Place = AirportPlace | CityPlace | CountryPlace | RegionPlace;

/** The catalog of one answer, whose places refer to each other. */
export interface Catalog {
  readonly airports: readonly AirportPlace[];
  readonly cities: readonly CityPlace[];
  readonly countries: readonly CountryPlace[];
  readonly regions: readonly RegionPlace[];
}

/** A place whose references are still positions in the other lists, and whose lists are empty. */
type Unlinked<P> = {
  -readonly [name in keyof P]: P[name] extends
    string | number | boolean | readonly (string | ClosedAirport)[]
    ? P[name]
    : P[name] extends readonly unknown[]
      ? unknown[]
      : number | P[name];
};

export interface CatalogFile {
  readonly countries: readonly Unlinked<CountryPlace>[];
  readonly cities: readonly Unlinked<CityPlace>[];
  readonly airports: readonly Unlinked<AirportPlace>[];
  readonly regions: readonly Unlinked<RegionPlace>[];
}

/** So many rows of a list are parsed at once: in about a millisecond. */
const ROWS_OF_A_LINE = 500;

/** A task of `unpackCatalog` ends once it has taken so long. */
const TASK_MS = 8;

/**
 * Joins the four lists by their references, for `unpackCatalog`: lines of JSON, because of all forms
 * of 20,000 objects a thread receives that one fastest, and can parse it piece by piece.
 *
 * @param cityNames in the language of the answer, by IATA code.
 * @throws Error if a reference does not resolve, which the contract rules out.
 */
export function packCatalog(
  answer: LocationsResponse,
  ranks: Ranks,
  cityNames: ReadonlyMap<string, string> = new Map(),
): string {
  const countryAt = positions(answer.countries.map(({ id }) => uuidText(id)));
  const cityAt = positions(answer.cities.map(({ id }) => uuidText(id)));
  const airportAt = positions(answer.airports.map(({ iata }) => iata));
  const countryOfCity = answer.cities.map(
    ({ countryId }) => answer.countries[countryAt.get(uuidText(countryId)) ?? -1]?.isoCode2,
  );
  const localNames = new Map(
    answer.airports.flatMap(({ iata, cityId }): [string, string][] => {
      const name = cityNames.get(iata);
      return name === undefined ? [] : [[uuidText(cityId), name]];
    }),
  );
  const file: CatalogFile = {
    countries: answer.countries.map(({ id, nameNative, phonePrefix, ...country }) => ({
      kind: "country",
      id: uuidText(id),
      code: country.isoCode2,
      code3: country.isoCode3,
      name: country.nameEng,
      nameNative,
      phonePrefix,
      cities: [],
      airports: [],
      regions: [],
    })),
    cities: answer.cities.map(({ id: bytes, name, lat, lon, countryId }) => {
      const country = resolve(countryAt, uuidText(countryId), name);
      const id = uuidText(bytes);
      return {
        kind: "city",
        id,
        name,
        nameLocal: localNames.get(id) ?? name,
        lat,
        lon,
        country,
        rank: ranks.rankOf(id),
        codes: ranks.codesOf(id),
        isApart: ranks.isApart(id),
        airports: [],
      };
    }),
    airports: answer.airports.map((message) => {
      const { $typeName: _, $unknown: _unknown, id, name, cityId, ...airport } = message;
      const { iata } = airport;
      const city = resolve(cityAt, uuidText(cityId), iata);
      return {
        ...airport,
        kind: "airport",
        id: uuidText(id),
        officialName: name,
        name: ranks.nameOf(iata) ?? name,
        tier: ranks.tierOf(iata),
        hasScheduledService: ranks.tierOf(iata) < 3,
        timeZone: ranks.timeZoneOf(iata, countryOfCity[city] ?? ""),
        replaces: ranks.closedFor(iata),
        rank: ranks.trafficRankOf(iata),
        city,
        regions: [],
      };
    }),
    regions: answer.regions.map(({ id, slug, slugLocalized, name, nameLocalized, ...region }) => ({
      kind: "region",
      id: uuidText(id),
      slug,
      slugLocalized,
      name: nameLocalized,
      nameEnglish: name,
      airports: region.airportIataCodes.map((code) => resolve(airportAt, code, slug)),
    })),
  };
  return Object.entries(file)
    .flatMap(([list, rows]: [string, readonly unknown[]]) =>
      Array.from({ length: Math.ceil(rows.length / ROWS_OF_A_LINE) || 1 }, (_, line) => {
        const start = line * ROWS_OF_A_LINE;
        return JSON.stringify({ [list]: rows.slice(start, start + ROWS_OF_A_LINE) });
      }),
    )
    .join("\n");
}

/** Joins the four lists of an answer. Ranks order places and name airports as travellers do. */
export function joinCatalog(
  answer: LocationsResponse,
  ranks: Ranks = readRanks(),
): Promise<Catalog> {
  return unpackCatalog(packCatalog(answer, ranks));
}

/**
 * Waits for the next task, so that the browser can draw and hear in between. Not by `setTimeout`, whose
 * repeated use browsers slow down to once in 4 ms.
 */
export async function nextTask(): Promise<void> {
  // Workers from before 2025-08-15, which have none, draw no page either.
  if (typeof MessageChannel === "undefined") return;
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((onwards) => {
    const onMessage = () => {
      port1.close();
      onwards();
    };
    port1.addEventListener("message", onMessage, { once: true });
    port1.start();
    port2.postMessage(null);
  });
}

/** Works through items in tasks of some milliseconds, which nothing else is done in. */
export async function inTasks<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let startedAt = -Infinity;
  for (const item of items) {
    if (performance.now() - startedAt >= TASK_MS) {
      await nextTask();
      startedAt = performance.now();
    }
    work(item);
  }
  await nextTask();
}

/** Makes the places of a packed catalog, which refer to each other, in many short tasks. */
export async function unpackCatalog(packed: string): Promise<Catalog> {
  const lists = {
    countries: new Array<unknown>(),
    cities: new Array<unknown>(),
    airports: new Array<unknown>(),
    regions: new Array<unknown>(),
  };
  await inTasks(packed.split("\n"), (line) => {
    const part = JSON.parse(line) as Partial<CatalogFile>; // from `packCatalog`
    for (const [list, rows] of Object.entries(part)) lists[list as keyof CatalogFile].push(...rows);
  });
  return linkPlaces(lists as unknown as CatalogFile);
}

/** Lets the rows of the lists, which become places, refer to each other, in many short tasks. */
export async function linkPlaces(file: CatalogFile): Promise<Catalog> {
  const linked = file as unknown as Catalog; // once the loops below have run
  await inTasks(file.cities, (city) => {
    const country = at(file.countries, city.country);
    city.country = country as unknown as CountryPlace;
    country.cities.push(city);
  });
  await inTasks(file.airports, (airport) => {
    const city = at(linked.cities, airport.city);
    airport.city = city;
    (city.airports as unknown[]).push(airport);
    (city.country.airports as unknown[]).push(airport);
  });
  await inTasks(file.regions, (region) => {
    region.airports = region.airports.map((position) => at(linked.airports, position));
  });
  const smallestFirst = linked.regions.toSorted((a, b) => a.airports.length - b.airports.length);
  await inTasks(smallestFirst, (region) => {
    for (const { regions: ofAirport, city } of region.airports) {
      (ofAirport as RegionPlace[]).push(region);
      const { regions: ofCountry } = city.country;
      if (ofCountry.at(-1) !== region) (ofCountry as RegionPlace[]).push(region);
    }
  });
  return linked;
}

function positions(keys: readonly string[]): Map<string, number> {
  return new Map(keys.map((key, position) => [key, position]));
}

function resolve(known: ReadonlyMap<string, number>, key: string, what: string): number {
  const position = known.get(key);
  if (position === undefined) throw new Error(`the answer lacks what ${what} refers to (${key})`);
  return position;
}

function at<T>(list: readonly T[], position: unknown): T {
  const found = list[Number(position)];
  if (found === undefined) throw new RangeError(`no row ${String(position)}`);
  return found;
}
