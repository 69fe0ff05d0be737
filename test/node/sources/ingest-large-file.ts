/**
 * Reads a file as long as OurAirports' and builds a catalog from it, for a test that runs this with
 * little memory. Writes what came of it as JSON to standard output.
 */
import { AIRPORT_COLUMNS } from "../../../data/build/airport-columns.ts";
import { buildCatalog, placeAirports } from "../../../src/ingest/build.ts";
import { resolveCities } from "../../../src/ingest/resolve-cities.ts";
import { readCityTables } from "../../../src/sources/city-tables.ts";
import { readCsv } from "../../../src/sources/csv.ts";
import { readAirports } from "../../../src/sources/our-airports.ts";
import { readCountries, readRegions } from "../../../src/sources/reference.ts";
import { snapshotOpener } from "../../../src/sources/snapshot.ts";
import { snapshotManifest, snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { csvOf, type Row } from "../../builders/source.ts";

const ROWS = 84_000;
/** Words such as the live file has, which the snapshot leaves out. */
const KEYWORDS = "a former name, a name in another language, the name of a town nearby";

const open = snapshotOpener(snapshotOnDisk);
const encoder = new TextEncoder();
let bytes = 0;

/** Rows with IATA codes first, then the same ones without, again and again. */
async function* largeFile(): AsyncGenerator<Uint8Array> {
  yield count(csvOf([]));
  let rows = 0;
  while (rows < ROWS)
    for await (const row of readCsv("airports.csv", open("airports.csv.gz"), [])) {
      const own: Row = Object.fromEntries(AIRPORT_COLUMNS.map((name) => [name, row.get(name)]));
      const code = rows < snapshotManifest.counts.airports ? {} : { iata_code: "" };
      yield count(csvOf([{ ...own, ...code, keywords: KEYWORDS }]).slice(csvOf([]).length));
      if (++rows === ROWS) return;
    }
}

function count(text: string): Uint8Array {
  const chunk = encoder.encode(text);
  bytes += chunk.length;
  return chunk;
}

const countries = await readCountries(open);
const codes = new Set(countries.map(({ isoCode2 }) => isoCode2));
const chunks = largeFile();
const stream = new ReadableStream<Uint8Array>({
  async pull(controller) {
    const { done, value } = await chunks.next();
    if (done === true) controller.close();
    else controller.enqueue(value);
  },
});
const { airports, seen, filtered } = await readAirports(stream, codes);
const { catalog } = buildCatalog({
  placed: placeAirports(airports, resolveCities(airports, await readCityTables(open, airports))),
  countries,
  regions: await readRegions(open),
  regionNames: new Map(),
});
const built = { airports: catalog.airports.length, regions: catalog.regions.length };
process.stdout.write(JSON.stringify({ bytes, seen, filtered, ...built }));
