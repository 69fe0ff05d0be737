import type { Catalog, CatalogFile } from "../catalog.ts";
import { linkPlaces } from "../catalog.ts";
import {
  type ClosedAirport,
  closedBySuccessor,
  isListOfClosed,
  type Tier,
  UNRANKED,
} from "./ranks.ts";
import { isNumbers, isRecord, isTextByKey, isTexts } from "./shape.ts";
import { isTimeZones, timeZoneAt, type TimeZones } from "./time-zones.ts";

/**
 * `/search/v1/served.json`: the airports with scheduled service, their cities and their countries. Each
 * list of values has one for each place, because like values beside each other compress best. In a
 * text of ids or ICAO codes a space is between them, in one of shorter codes nothing.
 */
export interface ServedFile {
  readonly airports: {
    /** UUIDs. Of those that begin as the first one does, only the last digits, without zeros before them. */
    readonly ids: string;
    /** The busiest first. */
    readonly iata: string;
    readonly icao: string;
    /** The official ones. `*` stands for the name of the city. */
    readonly names: readonly string[];
    /** A digit each, as in `RanksFile`. */
    readonly tiers: string;
    /** In hundredths of a degree. */
    readonly lat: readonly number[];
    readonly lon: readonly number[];
    /** Positions in `cities`. */
    readonly cities: readonly number[];
  };
  readonly cities: {
    readonly ids: string;
    readonly names: readonly string[];
    /** ISO 3166-1 alpha-2. */
    readonly countries: string;
    /** So many first ones are ranked, the most populous first. */
    readonly ranked: number;
    /** Positions of those that no source but their airports puts into a subdivision. */
    readonly apart: readonly number[];
  };
  /** Id, ISO 3166-1 alpha-2 and alpha-3 code, English and native name of each. */
  readonly countries: readonly (readonly string[])[];
  /** The subdivisions that tell apart cities of one name: id, slug and English name of each. */
  readonly regions: readonly (readonly string[])[];
  /** Positions of their airports. */
  readonly members: readonly (readonly number[])[];
  /** The names that travellers use where the official ones hide them, by IATA code, with `*` as well. */
  readonly names: { readonly [iata: string]: string };
  /** Positions of cities by their codes, such as `LON`. */
  readonly codes: { readonly [code: string]: number };
  readonly closed: readonly ClosedAirport[];
  readonly timeZones: TimeZones;
}

/** Whether a file is one: a service may answer with anything. */
export function isServedFile(file: unknown): file is ServedFile {
  return hasItsForm(file) && hasItsRows(file);
}

function hasItsForm(file: unknown): file is ServedFile {
  if (!isRecord(file)) return false;
  const { airports, cities, countries, regions, members, names, codes } = file;
  return (
    isRecord(airports) &&
    isTexts([airports["ids"], airports["iata"], airports["icao"], airports["tiers"]]) &&
    isTexts(airports["names"]) &&
    [airports["lat"], airports["lon"], airports["cities"]].every(isNumbers) &&
    isRecord(cities) &&
    isTexts([cities["ids"], cities["countries"]]) &&
    isTexts(cities["names"]) &&
    typeof cities["ranked"] === "number" &&
    isNumbers(cities["apart"]) &&
    [countries, regions].every((rows) => Array.isArray(rows) && rows.every(isTexts)) &&
    Array.isArray(members) &&
    members.every(isNumbers) &&
    isTextByKey(names) &&
    isRecord(codes) &&
    isNumbers(Object.values(codes)) &&
    isListOfClosed(file["closed"]) &&
    isTimeZones(file["timeZones"])
  );
}

/** Whether its places refer to places that it has. */
function hasItsRows({ airports, cities, countries, members }: ServedFile): boolean {
  const codes = new Set(countries.map(([, code]) => code));
  const codesOfCities = cities.countries.match(/../g) ?? [];
  return (
    airports.cities.length === airports.iata.length / 3 &&
    airports.cities.every((row) => cities.names[row] !== undefined) &&
    members.flat().every((row) => airports.cities[row] !== undefined) &&
    codesOfCities.length === cities.names.length &&
    codesOfCities.every((code) => codes.has(code))
  );
}

const ID_END_LENGTH = 12;

/**
 * Joins the places of the file, as `unpackCatalog` joins those of an answer. A city has the position
 * of its busiest airport.
 *
 * @param cityNames in the reader's language, by IATA code.
 */
export function joinServed(
  file: ServedFile,
  cityNames: ReadonlyMap<string, string> = new Map(),
): Promise<Catalog> {
  const { airports, cities, names } = file;
  const countryAt = new Map(file.countries.map(([, code = ""], position) => [code, position]));
  const apart = new Set(cities.apart);
  const codesOf = cities.names.map((): string[] => []);
  for (const [code, city] of Object.entries(file.codes)) codesOf[city]?.push(code);
  const closedFor = closedBySuccessor(file.closed);
  const airportIds = wholeIds(airports.ids);
  const cityIds = wholeIds(cities.ids);
  const icao = airports.icao.split(" ");
  const iatas = airports.iata.match(/.../g) ?? [];
  const localNames = new Map(
    iatas.map((iata, rank) => [
      cityNames.has(iata) ? airports.cities[rank] : -1,
      cityNames.get(iata),
    ]),
  );
  const countryCodes = cities.countries.match(/../g) ?? [];
  const rows: CatalogFile = {
    countries: file.countries.map(([id = "", code = "", code3 = "", name = "", native = ""]) => ({
      kind: "country",
      id,
      code,
      code3,
      name,
      nameNative: native,
      phonePrefix: "",
      cities: [],
      airports: [],
      regions: [],
    })),
    cities: cities.names.map((name, position) => {
      const busiest = airports.cities.indexOf(position);
      return {
        kind: "city",
        id: cityIds[position] ?? "",
        name,
        nameLocal: localNames.get(position) ?? name,
        lat: degrees(airports.lat[busiest]),
        lon: degrees(airports.lon[busiest]),
        country: countryAt.get(countryCodes[position] ?? "") ?? -1,
        rank: position < cities.ranked ? position : UNRANKED,
        codes: codesOf[position] ?? [],
        isApart: apart.has(position),
        airports: [],
      };
    }),
    airports: iatas.map((iata, rank) => {
      const city = airports.cities[rank] ?? -1;
      const cityName = cities.names[city] ?? "";
      const officialName = airports.names[rank]?.replace("*", cityName) ?? "";
      return {
        kind: "airport",
        id: airportIds[rank] ?? "",
        iata,
        icao: icao[rank] ?? "",
        officialName,
        name: names[iata]?.replace("*", cityName) ?? officialName,
        lat: degrees(airports.lat[rank]),
        lon: degrees(airports.lon[rank]),
        tier: Number(airports.tiers[rank]) as Tier, // the file has no other digits
        hasScheduledService: true,
        timeZone: timeZoneAt(file.timeZones, rank, countryCodes[city] ?? ""),
        replaces: closedFor(iata),
        rank,
        city,
        regions: [],
      };
    }),
    regions: file.regions.map(([id = "", slug = "", name = ""], position) => ({
      kind: "region",
      id,
      slug,
      slugLocalized: slug,
      name,
      nameEnglish: name,
      airports: [...(file.members[position] ?? [])],
    })),
  };
  return linkPlaces(rows);
}

function wholeIds(text: string): string[] {
  const ids = text.split(" ");
  const start = ids[0]?.slice(0, -ID_END_LENGTH) ?? "";
  return ids.map((id) =>
    id.length <= ID_END_LENGTH ? start + id.padStart(ID_END_LENGTH, "0") : id,
  );
}

function degrees(hundredths = 0): number {
  return hundredths / 100;
}
