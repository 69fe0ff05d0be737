import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
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
  const { cities, cityIds } = resolveCities(airports, tables);
  const byId = new Map(cities.map((city) => [idKey(city.id), city]));
  const inCatalog = new Set(tables.cities.values());
  const inGazetteer = new Set(tables.places.map((place) => place.city));
  const found = airports.map((airport, index) => {
    const city = byId.get(idKey(cityIds[index] ?? new Uint8Array()));
    if (city === undefined) throw new Error(`${airport.iata} has no city`);
    const table = inGazetteer.has(city) ? "gazetteer" : "none";
    return { airport, city, table: inCatalog.has(city) ? "catalog" : table };
  });
  return { found, tables };
}

/** Rows of OurAirports of 2026-02 under ids that the snapshot does not have, each with its city. */
const CASES: Row[] = parse(
  `
iata_code,iso_region,latitude_deg,longitude_deg,name,municipality,city,of
KTI,KH-8,11.3599,104.9212,Techo International Airport,Phnom Penh (Boeng Khyang),Phnom Penh,catalog
KIN,JM-01,17.9356,-76.7874,Norman Manley International Airport,Kingston,Kingston,catalog
PEG,IT-55,43.0959,12.5132,Perugia San Francesco d'Assisi – Umbria Airport,Perugia (PG),Perugia,catalog
LTH,VN-SE,10.7728,107.0405,Long Thanh International Airport (Under Construction),Ho Chi Minh City (Long Thanh),Ho Chi Minh City,catalog
TIA,AL-02,41.4147,19.7206,Tirana International Airport Mother Teresa,Rinas,Tirana,catalog
GWD,PK-BA,25.2967,62.4988,New Gwadar International Airport,Gurandani,Gwadar,catalog
MLC,US-OK,34.8824,-95.7835,Mc Alester Regional Airport,Mc Alester,McAlester,catalog
JNH,CN-33,30.7055,120.6797,Jiaxing Airport / Jiaxing Air Base,"Xiuzhou, Hangzhou",Jiaxing,catalog
MEN,FR-OCC,44.5021,3.5328,Mende-Brenoux Airfield,Mende/Brénoux,Mende,catalog
CGL,PE-LAL,-7.7976,-77.6512,Chagual Airport,,Chagual,catalog
QLG,DE-BY,48.5120,12.0349,Landshut Airfield,Landshut,Landshut,gazetteer
CBA,CA-BC,49.8636,-119.568,Alpine Heliport,West Kelowna,West Kelowna,gazetteer
DGP,LV-111,55.9447,26.6650,Daugavpils International Airport,Daugavpils,Daugavpils,gazetteer
JAH,FR-PAC,43.2866,5.6039,Zi Les Paluds Heliport,Aubagne,Aubagne,gazetteer
EAX,SR-PM,5.8604,-55.192,Gummels Airport,Kwatta (Wanica),Kwatta,none
`,
  { columns: true, skip_empty_lines: true },
);

const newRows = CASES.map((row, index) =>
  anAirportRow({
    ...row,
    id: String(900_000_000 + index),
    iso_country: row["iso_region"]?.slice(0, 2) ?? "",
  }),
);

describe("a new airport of upstream", () => {
  const resolved = resolve(newRows);

  it.each(CASES)("$iata_code gets $city, which is a city of the table: $of", async (row) => {
    const { found } = await resolved;
    const its = found.find(({ airport }) => airport.iata === row["iata_code"]);
    expect(its?.city.name).toBe(row["city"]);
    expect(its?.table).toBe(row["of"]);
  });

  it("gets a city named after its municipality, without additions, if no table has one", async () => {
    const { found } = await resolved;
    const kwatta = cityId("ourairports:SR-PM:kwatta");
    expect(found.find(({ airport }) => airport.iata === "EAX")?.city.id).toEqual(kwatta);
  });
});

describe("airports of the snapshot, if it had never known them", () => {
  // No rule finds what a person has chosen.
  const chosen: Row[] = parse(readFileSync("data/curated/airport-cities.csv"), { columns: true });
  const byHand = new Set(chosen.map((row) => row["iata"]));
  const scheduled = rows.filter((row) => row["scheduled_service"] === "yes");
  const sample = scheduled.filter((row, index) => index % 6 === 0 && !byHand.has(row["iata_code"]));
  const resolved = resolve(sample, openWithout(sample));

  it("find the same city in three of four cases, and a wrong one in fewer than one of thirty", async () => {
    const { found } = await resolved;
    const results = found.map(({ airport, city, table }) => {
      if (idKey(city.id) === idKey(cityId(cityKeys.get(airport.id) ?? ""))) return "same";
      return table === "none" ? "made" : "other";
    });
    const share = (result: string) =>
      results.filter((one) => one === result).length / sample.length;
    expect(sample.length).toBeGreaterThan(500);
    expect(share("same")).toBeGreaterThan(0.76);
    expect(share("other")).toBeLessThan(1 / 30);
  });

  it("never get a second city of one name beside the first", async () => {
    const { found, tables } = await resolved;
    const made = found.filter(({ table }) => table === "none");
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

it("an edit of its row leaves each airport its city", async () => {
  const some = rows.filter((_, index) => index % 50 === 0);
  const before = await resolve(some);
  const after = await resolve(
    some.map((row) => ({ ...row, name: "Paris", municipality: "Paris", iso_region: "FR-IDF" })),
  );
  const cityIds = ({ found }: typeof before) => found.map(({ city }) => idKey(city.id));
  expect(cityIds(after)).toEqual(cityIds(before));
});
