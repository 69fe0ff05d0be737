import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCsv } from "../../../src/sources/csv.ts";
import type { AirportsRead } from "../../../src/catalog/source-airport.ts";
import { readAirports, readSubdivisions } from "../../../src/sources/our-airports.ts";
import { SourceError } from "../../../src/sources/source-error.ts";
import { mutatedCsv } from "../../builders/csv-mutations.ts";
import { FOUND_IN_TABLES } from "../../cases/found-by-fuzzing.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { readSnapshotFile } from "../../builders/snapshot-on-disk.ts";
import { buildFrom, streamOf } from "../../builders/source.ts";

/** The header of a real table and some of its rows, all over the file. */
async function realRows(file: string, every: number): Promise<string[][]> {
  const csv = gunzipSync(readSnapshotFile(`${file}.gz`));
  const header = csv.toString("utf8").split("\n", 1)[0]?.trim().split(",") ?? [];
  const rows = [header];
  let count = 0;
  for await (const row of readCsv(file, streamOf(csv), []))
    if (count++ % every === 0) rows.push(header.map((column) => row.get(column)));
  return rows;
}

const airportRows = await realRows("airports.csv", 800);
const regionRows = await realRows("regions.csv", 400);
const countries = new Set(
  airportRows.map((row) => row[airportRows[0]?.indexOf("iso_country") ?? 0] ?? ""),
);

const regionCodes = new Set(
  regionRows.map((row) => row[regionRows[0]?.indexOf("code") ?? 0] ?? ""),
);

/** What was read, or undefined where the file as a whole was refused. */
async function orRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

function expectAccountedFor({ airports, seen, filtered, rejects }: AirportsRead): void {
  expect(airports.length + filtered + rejects.length).toBe(seen);
  const codes = airports.map(({ iata }) => iata);
  expect(codes).toEqual([...new Set(codes)].toSorted());
  for (const { id, name, iata, icao, lat, lon, country } of airports) {
    expect(`${id} ${iata} ${icao}`).toMatch(/^[1-9]\d* [A-Z]{3} ([A-Z]{4})?$/);
    expect(name).toBe(name.trim().normalize("NFC"));
    expect(name).not.toBe("");
    expect(Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && (lat !== 0 || lon !== 0)).toBe(true);
    expect(countries).toContain(country);
  }
}

/** The tables that fuzzing has found once, with a header. */
const found = (header: readonly string[] = []) =>
  FOUND_IN_TABLES.map((rest): [Uint8Array, number] => [
    Buffer.from(header.join(",") + rest),
    5_000,
  ]);

const chunkLength = fc.integer({ min: 1, max: 5000 });

describe("upstream's tables, damaged in any way,", UNHURRIED, () => {
  it("have each row of airports.csv kept, filtered or rejected, or are refused", async () => {
    expect(airportRows.length).toBeGreaterThan(10);
    await fc.assert(
      fc.asyncProperty(mutatedCsv(airportRows), chunkLength, async (bytes, length) => {
        const read = await orRefused(readAirports(streamOf(bytes, length), countries));
        if (read !== undefined) expectAccountedFor(read);
      }),
      fuzzed(40, found(airportRows[0])),
    );
  });

  it("make a catalog whose references resolve, of what is kept", async () => {
    await fc.assert(
      fc.asyncProperty(mutatedCsv(airportRows), async (bytes) => {
        const read = await orRefused(readAirports(streamOf(bytes), countries));
        if (read === undefined) return;
        const { catalog } = buildFrom(read.airports);
        const cities = new Set(catalog.cities.map(({ id }) => id.join()));
        for (const { cityId } of catalog.airports) expect(cities).toContain(cityId.join());
      }),
      fuzzed(20),
    );
  });

  it("give no empty name of a region, or are refused", async () => {
    expect(regionRows.length).toBeGreaterThan(5);
    await fc.assert(
      fc.asyncProperty(mutatedCsv(regionRows), chunkLength, async (bytes, length) => {
        const read = await orRefused(readSubdivisions(streamOf(bytes, length), regionCodes));
        for (const name of read?.names.values() ?? []) expect(name.trim()).not.toBe("");
      }),
      fuzzed(40, found(regionRows[0])),
    );
  });

  it("give the same result however they are cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(mutatedCsv(airportRows), chunkLength, async (bytes, length) => {
        const outcome = (chunk: number) =>
          orRefused(readAirports(streamOf(bytes, chunk), countries));
        expect(await outcome(length)).toEqual(await outcome(1_000_000));
      }),
      fuzzed(40),
    );
  });
});
