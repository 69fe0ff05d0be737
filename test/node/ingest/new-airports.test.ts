import { describe, expect, it } from "vitest";
import { cityId, idKey } from "../../../src/catalog/ids.ts";
import { spellingKey } from "../../../src/sources/place-names.ts";
import { distanceKm } from "../../../src/catalog/positions.ts";
import { resolveCities } from "../../../src/ingest/resolve-cities.ts";
import { readCityTables } from "../../../src/sources/city-tables.ts";
import { readAirports } from "../../../src/sources/our-airports.ts";
import { snapshotOpener } from "../../../src/sources/snapshot.ts";
import { cityKeys, openWithout, readSnapshotRows } from "../../builders/forgetful-snapshot.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { anAirportRow, csvOf, type Row, streamOf } from "../../builders/source.ts";

const open = snapshotOpener(snapshotOnDisk);
const rows = readSnapshotRows("airports.csv.gz");
const countries = new Set(rows.map((row) => row["iso_country"] ?? ""));

/** Resolves the cities of rows as they come from upstream. */
async function resolve(airportRows: readonly Row[], openTables = open) {
  const { airports } = await readAirports(streamOf(csvOf(airportRows)), countries);
  const tables = await readCityTables(openTables, airports);
  const { cities, cityIds, origins } = resolveCities(airports, tables);
  const byId = new Map(cities.map((city) => [idKey(city.id), city]));
  const inCatalog = new Set(tables.cities.values());
  const places = new Map(tables.places.map((place) => [place.city, place]));
  const found = airports.map((airport, index) => {
    const city = byId.get(idKey(cityIds[index] ?? new Uint8Array()));
    if (city === undefined) throw new Error(`${airport.iata} has no city`);
    return { airport, city, known: inCatalog.has(city) ? "catalog" : places.get(city)?.key };
  });
  return { found, origins, tables };
}

/** IATA code, name, subdivision, municipality, position and city. */
type Case = readonly [string, string, string, string, string, string, string];

/** Rows of OurAirports of 2026-02 whose city has an airport in the snapshot. */
const IN_THE_CATALOG: readonly Case[] = [
  [
    "KTI",
    "Techo International Airport",
    "KH-8",
    "Phnom Penh (Boeng Khyang)",
    "11.3599",
    "104.9212",
    "Phnom Penh",
  ],
  [
    "KIN",
    "Norman Manley International Airport",
    "JM-01",
    "Kingston",
    "17.9356",
    "-76.7874",
    "Kingston",
  ],
  [
    "PEG",
    "Perugia San Francesco d'Assisi – Umbria International Airport",
    "IT-55",
    "Perugia (PG)",
    "43.0959",
    "12.5132",
    "Perugia",
  ],
  [
    "LTH",
    "Long Thanh International Airport (Under Construction)",
    "VN-SE",
    "Ho Chi Minh City (Long Thanh)",
    "10.7728",
    "107.0405",
    "Ho Chi Minh City",
  ],
  [
    "TIA",
    "Tirana International Airport Mother Teresa",
    "AL-02",
    "Rinas",
    "41.4147",
    "19.7206",
    "Tirana",
  ],
  ["GWD", "New Gwadar International Airport", "PK-BA", "Gurandani", "25.2967", "62.4988", "Gwadar"],
  ["MLC", "Mc Alester Regional Airport", "US-OK", "Mc Alester", "34.8824", "-95.7835", "McAlester"],
  [
    "JNH",
    "Jiaxing Airport / Jiaxing Air Base",
    "CN-33",
    "Xiuzhou, Hangzhou",
    "30.7055",
    "120.6797",
    "Jiaxing",
  ],
  ["MEN", "Mende-Brenoux Airfield", "FR-OCC", "Mende/Brénoux", "44.5021", "3.5328", "Mende"],
  ["CGL", "Chagual Airport", "PE-LAL", "", "-7.7976", "-77.6512", "Chagual"],
];

/** The same, of towns that have none. */
const IN_THE_GAZETTEER: readonly Case[] = [
  ["QLG", "Landshut Airfield", "DE-BY", "Landshut", "48.5120", "12.0349", "Landshut"],
  ["CBA", "Alpine Heliport", "CA-BC", "West Kelowna", "49.8636", "-119.568", "West Kelowna"],
  [
    "DGP",
    "Daugavpils International Airport",
    "LV-111",
    "Daugavpils",
    "55.9447",
    "26.6650",
    "Daugavpils",
  ],
  ["JAH", "Zi Les Paluds Heliport", "FR-PAC", "Aubagne", "43.2866", "5.6039", "Aubagne"],
];

/** A village that no table has. */
const KWATTA: Case = [
  "EAX",
  "Gummels Airport",
  "SR-PM",
  "Kwatta (Wanica)",
  "5.8604",
  "-55.192",
  "",
];

/** Rows under ids that the snapshot does not have. */
const newRows = [...IN_THE_CATALOG, ...IN_THE_GAZETTEER, KWATTA].map(
  ([iata, name, region, municipality, lat, lon], index) =>
    anAirportRow({
      id: String(900_000_000 + index),
      name,
      iata_code: iata,
      iso_country: region.slice(0, 2),
      iso_region: region,
      municipality,
      latitude_deg: lat,
      longitude_deg: lon,
    }),
);

describe("a new airport of upstream", () => {
  const resolved = resolve(newRows);

  async function cityOf(iata: string) {
    const { found } = await resolved;
    const its = found.find(({ airport }) => airport.iata === iata);
    return { city: its?.city, known: its?.known };
  }

  it.each(IN_THE_CATALOG)("%s is in the city that the snapshot has", async (...row) => {
    expect(await cityOf(row[0])).toMatchObject({ city: { name: row[6] }, known: "catalog" });
  });

  it.each(IN_THE_GAZETTEER)("%s is in a town of GeoNames", async (...row) => {
    const known = expect.stringMatching(/^geonames:/);
    expect(await cityOf(row[0])).toMatchObject({ city: { name: row[6] }, known });
  });

  it("is in its municipality, without additions, where that is a village", async () => {
    const { city } = await cityOf(KWATTA[0]);
    expect(city).toMatchObject({ id: cityId("ourairports:SR-PM:kwatta"), name: "Kwatta" });
  });
});

describe("airports of the snapshot, if it had never known them", () => {
  const scheduled = rows.filter((row) => row["scheduled_service"] === "yes");
  const sample = scheduled.filter((_, index) => index % 8 === 0);
  const resolved = resolve(sample, openWithout(sample));

  it("find the same city in three of four cases, and a wrong one in one of fifty", async () => {
    const { found } = await resolved;
    const results = found.map(({ airport, city, known }) => {
      if (idKey(city.id) === idKey(cityId(cityKeys.get(airport.id) ?? ""))) return "same";
      return known === undefined ? "made" : "other";
    });
    const share = (result: string) =>
      results.filter((one) => one === result).length / sample.length;
    expect(sample.length).toBeGreaterThan(500);
    expect(share("same")).toBeGreaterThan(0.76);
    expect(share("other")).toBeLessThan(0.02);
  });

  it("never get a second city of one name beside the first", async () => {
    const { found, tables } = await resolved;
    const made = found.filter(({ known }) => known === undefined);
    const seconds = made.filter(({ airport, city }) =>
      tables.places.some(
        (place) =>
          place.name === spellingKey(city.name) &&
          place.country === airport.country &&
          distanceKm(place, airport) < 40,
      ),
    );
    expect(seconds).toEqual([]);
  });
});

it("keeps each airport's city, whatever upstream writes in its row", async () => {
  const some = rows.filter((_, index) => index % 50 === 0);
  const before = await resolve(some);
  const after = await resolve(
    some.map((row) => ({ ...row, name: "Paris", municipality: "Paris", iso_region: "FR-IDF" })),
  );
  const cityIds = ({ found }: typeof before) => found.map(({ city }) => idKey(city.id));
  expect(cityIds(after)).toEqual(cityIds(before));
  expect(after.origins.known_airport).toBe(some.length);
});
