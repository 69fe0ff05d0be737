/** Makes the files of `/search/v1` from `data/search`, the curated names and the snapshot. */
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { foldForSearch } from "../../client/src/search/fold.ts";
import type { CityNamesFile } from "../../client/src/search/city-names.ts";
import type { ClosedAirport, RanksFile } from "../../client/src/search/ranks.ts";
import type { ServedFile } from "../../client/src/search/served.ts";
import type { TimeZones } from "../../client/src/search/time-zones.ts";
import type { OtherNames } from "../../client/src/search/search-index.ts";
import { airportId, cityId, countryId, idText, regionId } from "../../src/catalog/ids.ts";
import { readTable, type Row } from "./snapshot-table.ts";

const TIERS = ["large_airport", "medium_airport"];

/** What travellers call places that the catalog lacks or names otherwise, by IATA code or region. */
const TOURIST_NAMES = readTouristNames();

/** From this many inhabitants on, a city is ranked by them. */
const RANKED_FROM = 20_000;

const ICAO = /^[A-Z]{4}$/;

/** Ranks the airports and cities of the snapshot, and names the airports as travellers do. */
export function rankPlaces(): RanksFile & { readonly timeZones: TimeZones } {
  const airports = readTable("search/airports.csv.gz");
  const cities = readTable("search/cities.csv.gz");
  return {
    airports: airports.map((row) => row["iata"] ?? ""),
    tiers: airports.map(({ type = "" }) => tierOfType(type)).join(""),
    names: Object.fromEntries(
      airports.flatMap(({ iata = "", name = "" }) => (name ? [[iata, name]] : [])),
    ),
    cities: cities.filter(({ people }) => Number(people) >= RANKED_FROM).map(idOf),
    codes: Object.fromEntries(
      // The most populous city of a code comes last, and stays.
      cities.toReversed().flatMap((row) => codesOf(row).map((code) => [code, idOf(row)])),
    ),
    apart: citiesApart(),
    closed: closedAirports(),
    timeZones: timeZones(airports),
  };
}

function timeZones(airports: readonly Row[]): TimeZones {
  const countryOf = countriesOfCities();
  const byCountry = Map.groupBy(airports, countryOf);
  const zones = new Map([...byCountry].map(([country, its]) => [country, frequentFirst(its)]));
  return {
    countries: Object.fromEntries([...zones].map(([country, names]) => [country, names.join(" ")])),
    airports: airports
      .map((row) =>
        zones
          .get(countryOf(row))
          ?.indexOf(row["zone"] ?? "")
          .toString(36),
      )
      .join(""),
  };
}

function frequentFirst(airports: readonly Row[]): string[] {
  const used = Map.groupBy(airports, ({ zone = "" }) => zone);
  return [...used].toSorted(([, a], [, b]) => b.length - a.length).map(([zone]) => zone);
}

/** Finds the country of the city of an airport of the search. */
function countriesOfCities(): (airport: Row) => string {
  const countryOf = new Map(
    readTable("snapshot/cities.csv.gz").map((row) => [row["key"], row["country"]]),
  );
  const keyOf = new Map(
    readTable("snapshot/airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
  );
  const idOfCode = new Map(
    readTable("snapshot/airports.csv.gz").map((row) => [row["iata_code"], row["id"]]),
  );
  return ({ iata }) => countryOf.get(keyOf.get(idOfCode.get(iata))) ?? "";
}

/** The airports with scheduled service, and all that a picker needs to suggest them. */
export function servedPlaces(): ServedFile {
  const ranks = rankPlaces();
  const rankOf = new Map(ranks.cities.map((id, rank) => [id, rank]));
  const keyOf = new Map(
    readTable("snapshot/airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
  );
  const rowOf = new Map(
    readTable("snapshot/airports.csv.gz").map((row) => [row["iata_code"], row]),
  );
  const airports = ranks.airports.map((iata) => rowOf.get(iata) ?? {});
  const keys = new Set(airports.map(({ id }) => keyOf.get(id)));
  const cities = readTable("snapshot/cities.csv.gz")
    .filter(({ key }) => keys.has(key))
    .map(({ key = "", name = "", country = "", region = "" }) => {
      const id = idText(cityId(key));
      return { key, name, country, region, id, rank: rankOf.get(id) ?? Number.MAX_VALUE };
    })
    .toSorted((a, b) => a.rank - b.rank);
  const positionOf = new Map(cities.map(({ key }, position) => [key, position]));
  const positionOfId = new Map(cities.map(({ id }, position) => [id, position]));
  const cityOf = ({ id }: Row) => positionOf.get(keyOf.get(id) ?? "") ?? -1;
  const used = new Set(cities.map(({ country }) => country));
  const regions = regionsThatTellApart(cities);
  const withoutCity = (row: Row, name = "") => name.replace(cities[cityOf(row)]?.name ?? "", "*");
  return {
    airports: {
      ids: shortIds(airports.map(({ id = "" }) => idText(airportId(id)))),
      iata: ranks.airports.join(""),
      icao: airports.map(icaoOf).join(" "),
      names: airports.map((row) => withoutCity(row, row["name"])),
      tiers: ranks.tiers,
      lat: airports.map(hundredths("latitude_deg")),
      lon: airports.map(hundredths("longitude_deg")),
      cities: airports.map(cityOf),
    },
    cities: {
      ids: shortIds(cities.map(({ id }) => id)),
      names: cities.map(({ name }) => name),
      countries: cities.map(({ country }) => country).join(""),
      ranked: cities.filter(({ id }) => rankOf.has(id)).length,
      apart: (ranks.apart ?? []).flatMap((id) => positionOfId.get(id) ?? []),
    },
    countries: readTable("snapshot/countries.csv.gz")
      .filter(({ iso_code2 = "" }) => used.has(iso_code2))
      .map(({ iso_code2 = "", iso_code3 = "", name_eng = "", name_native = "" }) => [
        idText(countryId(iso_code2)),
        iso_code2,
        iso_code3,
        name_eng,
        name_native,
      ]),
    regions: regions.map(({ key = "", slug = "", name = "" }) => [
      idText(regionId(key)),
      slug,
      name,
    ]),
    members: regions.map(({ members = "" }) => {
      const codes = new Set(members.split(" "));
      return airports.flatMap(({ iso_region = "", iata_code = "" }, position) =>
        codes.has(iso_region) || codes.has(iata_code) ? [position] : [],
      );
    }),
    names: Object.fromEntries(
      Object.entries(ranks.names).map(([iata, name]) => [
        iata,
        withoutCity(rowOf.get(iata) ?? {}, name),
      ]),
    ),
    codes: Object.fromEntries(
      Object.entries(ranks.codes).flatMap(([code, id]) => {
        const position = positionOfId.get(id);
        return position === undefined ? [] : [[code, position]];
      }),
    ),
    closed: ranks.closed ?? [],
    timeZones: ranks.timeZones,
  };
}

function hundredths(column: string): (row: Row) => number {
  return (row) => Math.round(Number(row[column]) * 100);
}

/** What each locale calls the cities that it does not name as in English. */
export function cityNames(): ReadonlyMap<string, CityNamesFile> {
  const nameOf = new Map(readTable("snapshot/cities.csv.gz").map(({ key, name }) => [key, name]));
  const keyOf = new Map(
    readTable("snapshot/airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
  );
  const idOfAirport = new Map(
    readTable("snapshot/airports.csv.gz").map((row) => [row["iata_code"], row["id"]]),
  );
  const busiest = new Map(
    readTable("search/airports.csv.gz")
      .toReversed()
      .map(({ iata = "" }) => [keyOf.get(idOfAirport.get(iata)), iata]),
  );
  const table = readTable("city-names.csv.gz");
  const rows = table
    // A city that was renamed has other names, too.
    .filter(({ geonames, english }) => nameOf.get(`geonames:${geonames}`) === english)
    .flatMap((row) => {
      const iata = busiest.get(`geonames:${row["geonames"]}`);
      return iata === undefined ? [] : [{ iata, names: row }];
    })
    .toSorted((a, b) => (a.iata < b.iata ? -1 : 1));
  const { geonames: _, english: __, sources: ___, ...locales } = table[0] ?? {};
  return new Map(
    Object.keys(locales).map((locale) => {
      const named = rows.filter(({ names }) => names[locale] !== "");
      return [
        locale,
        {
          airports: named.map(({ iata }) => iata).join(""),
          names: named.map(({ names }) => names[locale]).join("|"),
        },
      ];
    }),
  );
}

interface SearchedCity {
  readonly name: string;
  readonly country: string;
  readonly region: string;
}

/** The subdivisions of cities that have the name of another one in their country. */
function regionsThatTellApart(cities: readonly SearchedCity[]): readonly Row[] {
  const ofName = Map.groupBy(cities, ({ country, name }) => nameIn(country, name));
  const wanted = new Set(
    [...ofName.values()].flatMap((same) =>
      same.length > 1 ? same.map(({ region }) => region) : [],
    ),
  );
  return readTable("snapshot/catalog-regions.csv.gz").filter(
    ({ key = "", members = "" }) =>
      key.startsWith("iso3166-2:") && members.split(" ").some((member) => wanted.has(member)),
  );
}

function icaoOf({ icao_code, gps_code }: Row): string {
  return [icao_code, gps_code].find((code = "") => ICAO.test(code)) ?? "";
}

/** Leaves out of ids what they have in common with the first one, as `ServedFile` says. */
function shortIds(ids: readonly string[]): string {
  const [first = "", ...others] = ids;
  const start = first.slice(0, -12);
  return [first, ...others.map((id) => (id.startsWith(start) ? shortEnd(id) : id))].join(" ");
}

function shortEnd(id: string): string {
  return id.slice(-12).replace(/^0+/, "");
}

/**
 * Finds the cities that nothing but their airports puts into a subdivision: upstream has none for
 * the city itself (Kyiv), another one (San Salvador), or one of its own name (Moscow).
 */
function citiesApart(): string[] {
  const ofOwnName = new Map(
    readTable("snapshot/regions.csv.gz").map(({ iso_country, name, code }) => [
      nameIn(iso_country, name?.replace(/ (?:City|\(city\))$/, "")),
      code,
    ]),
  );
  const ofAirports = subdivisionsOfAirports();
  return readTable("snapshot/cities.csv.gz")
    .filter(({ key = "", name, country, region }) => {
      const own = ofOwnName.get(nameIn(country, name)) ?? region;
      return own === "" || own !== ofAirports.get(key);
    })
    .map(({ key = "" }) => idText(cityId(key)));
}

/** The subdivision that has most of each city's service, weighed as `subdivisionOf` does. */
function subdivisionsOfAirports(): ReadonlyMap<string, string> {
  const tierOf = new Map(
    readTable("search/airports.csv.gz").map(({ iata = "", type = "" }) => [iata, tierOfType(type)]),
  );
  const cityOf = new Map(
    readTable("snapshot/airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"]]),
  );
  const services = new Map<string, Map<string, number>>();
  for (const { id, iata_code = "", iso_region = "" } of readTable("snapshot/airports.csv.gz")) {
    const key = cityOf.get(id) ?? "";
    const ofCity = services.get(key) ?? new Map<string, number>();
    services.set(key, ofCity);
    ofCity.set(iso_region, (ofCity.get(iso_region) ?? 0) + 4 - (tierOf.get(iata_code) ?? 3));
  }
  return new Map(
    [...services].map(([key, ofCity]) => {
      const [most] = [...ofCity].toSorted(([, a], [, b]) => b - a);
      return [key, most?.[0] ?? ""];
    }),
  );
}

/** Of an airport with scheduled service. */
function tierOfType(type: string): number {
  return TIERS.includes(type) ? TIERS.indexOf(type) : 2;
}

function nameIn(country = "", name = ""): string {
  return `${country} ${name}`;
}

/** The other names of airports, cities and regions: those of regions in some languages. */
export function otherNames(): OtherNames {
  const named = ({ names }: Row) => names !== "";
  const airports = readTable("search/airports.csv.gz");
  const cities = readTable("search/cities.csv.gz");
  const places = readTable("search/places.csv.gz");
  return {
    airports: Object.fromEntries(
      airports
        .map(
          ({ iata = "", names = "" }) =>
            [iata, [...namesIn(names), ...touristNames(iata)]] as const,
        )
        .filter(([, names]) => names.length > 0)
        .map(([iata, names]) => [iata, [...new Set(names)].join("|")]),
    ),
    cities: Object.fromEntries(cities.filter(named).map((row) => [idOf(row), row["names"] ?? ""])),
    local: Object.fromEntries(
      airports.flatMap(({ iata = "", local = "" }) => (local ? [[iata, local]] : [])),
    ),
    ...regionNames(),
    nearby: {
      names: places.map(({ name = "", names }) => (names ? `${name}|${names}` : name)),
      lat: places.map(hundredths("lat")),
      lon: places.map(hundredths("lon")),
      airports: places.map((row) => row["airports"] ?? ""),
    },
  };
}

function regionNames(): Pick<OtherNames, "regions" | "regionCodes"> {
  const names = new Map(readTable("search/regions.csv.gz").map((row) => [row["key"], row]));
  const regions = readTable("snapshot/catalog-regions.csv.gz");
  const namesOf = ({ key = "", name = "" }: Row) => {
    const known = names.get(key)?.["names"];
    const others = new Set(known === undefined ? [] : [...namesIn(known), ...touristNames(key)]);
    others.delete(foldForSearch(name));
    return [...others].toSorted().join("|");
  };
  const codes = regions.flatMap(({ key, slug }) => {
    const code = /^iso3166-2:..-([A-Z]{2,3})$/u.exec(key ?? "")?.[1];
    return code && slug ? [[slug, code]] : [];
  });
  return {
    regions: Object.fromEntries(
      regions.map((row) => [row["slug"] ?? "", namesOf(row)]).filter(([, others]) => others !== ""),
    ),
    regionCodes: Object.fromEntries(codes),
  };
}

/** Reads `data/curated/closed-airports.csv`. */
function closedAirports(): ClosedAirport[] {
  const rows: Row[] = parse(readFileSync("data/curated/closed-airports.csv"), { columns: true });
  return rows.map(({ iata = "", name = "", names = "", year, successor = "" }) => ({
    iata,
    name,
    names: namesIn(names),
    year: Number(year),
    successor,
  }));
}

/** Reads `data/curated/tourist-places.csv`, folded. */
function readTouristNames(): ReadonlyMap<string, readonly string[]> {
  const rows: Row[] = parse(readFileSync("data/curated/tourist-places.csv"), { columns: true });
  const known = new Map<string, string[]>();
  for (const { place = "", names = "" } of rows)
    for (const one of place.split(" "))
      known.set(one, [...(known.get(one) ?? []), ...namesIn(names).map(foldForSearch)]);
  return known;
}

function touristNames(place: string): readonly string[] {
  return TOURIST_NAMES.get(place) ?? [];
}

function namesIn(column: string): string[] {
  return column.split("|").filter((name) => name !== "");
}

function codesOf(row: Row): string[] {
  return (row["codes"] ?? "").split(" ").filter((code) => code !== "");
}

function idOf(row: Row): string {
  return idText(cityId(`geonames:${row["geonames"]}`));
}
