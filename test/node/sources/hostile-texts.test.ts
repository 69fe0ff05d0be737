import { describe, expect, it } from "vitest";
import { AIRPORT_COLUMNS } from "../../../data/build/airport-columns.ts";
import { readAirports, readSubdivisions } from "../../../src/sources/our-airports.ts";
import type { SourceError } from "../../../src/sources/source-error.ts";
import { anAirportRow, aSourceAirport, csvOf, streamOf } from "../../builders/source.ts";

/** Values that the product reads. Of the others it keeps nothing. */
const READ = new Set(
  (
    "id type name latitude_deg longitude_deg iso_country iso_region municipality " +
    "scheduled_service icao_code iata_code gps_code"
  ).split(" "),
);

/** Pieces that an expression of the product looks for, over and over. */
const PIECES = {
  "letters of another script": "я",
  "a repetition that never ends": " - я",
  "open notes": "(unusable ",
  brackets: "([{",
  spaces: " ",
  capitals: "ÀB",
  "marks that are out of order": "\u0327\u0301\u0591",
  domains: "a.",
  "invisible characters": "\u200b",
  digits: "1",
  decimals: "1.1",
  "line breaks": "\n",
  "halves of characters": "\ud800",
};

const long = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const OTHER = anAirportRow({ id: "9", iata_code: "BRN", icao_code: "LSZB", gps_code: "LSZB" });
const known = [{ row: "4439", iata: "ZRH", lat: 47, lon: 8 }];

/** Reads a file in which a value is overlong, and one airport is as it should be. */
const readWith = (column: string, value: string) =>
  readAirports(streamOf(csvOf([anAirportRow({ [column]: value }), OTHER])), new Set(["CH"]), known);

it("a header of very many columns takes about as long as a row of them", async () => {
  const names = Array.from({ length: 45_000 }, (_, index) => index.toString(36)).join(",");
  const read = async (text: string) => {
    const start = process.cpuUsage();
    const fault = await readAirports(streamOf(text), new Set()).then(
      () => null,
      (error: SourceError) => error.fault,
    );
    const { user, system } = process.cpuUsage(start);
    return { fault, cpu: user + system };
  };
  const row = await read(`${csvOf([])}\n${names}\n`);
  const header = await read(names);
  expect(header.fault).toBe("missing_columns");
  expect(header.cpu).toBeLessThan(20 * row.cpu);
});

describe("an overlong text of upstream's", () => {
  const columns = AIRPORT_COLUMNS.filter((column) => READ.has(column));

  it("has a row for every value that the product reads", () => {
    expect(columns).toHaveLength(READ.size);
  });

  describe("of 3600 characters", () => {
    const length = 3600;

    it.each(columns)("makes its row unusable, and no other: %s", async (column) => {
      for (const piece of Object.values(PIECES)) {
        // A row with an empty code lists no airport.
        if (column === "iata_code" && piece.trim() === "") continue;
        const { airports, rejects, delistedRows } = await readWith(column, long(piece, length));
        expect(airports.map(({ iata }) => iata)).toEqual(["BRN"]);
        expect(rejects).toMatchObject([{ reason: "bad_text" }]);
        if (column === "id" || column === "iata_code") continue;
        expect(rejects).toMatchObject([{ iata: "ZRH", id: "4439" }]);
        // The airport is served as before.
        expect([...delistedRows]).toEqual([["4439", "unusable"]]);
      }
    });

    it.each(AIRPORT_COLUMNS.filter((column) => !READ.has(column)))(
      "says nothing where nobody reads it: %s",
      async (column) => {
        for (const piece of Object.values(PIECES)) {
          const { airports, rejects } = await readWith(column, long(piece, length));
          expect(airports[1]).toEqual(aSourceAirport());
          expect(rejects).toEqual([]);
        }
      },
    );

    it("makes a row of a region unusable, and no other", async () => {
      for (const piece of Object.values(PIECES).filter((text) => text.trim() !== "")) {
        const rows = [
          { code: "CH-ZH", name: long(piece, length) },
          { code: long(piece, length), name: "Nowhere" },
          { code: "CH-BE", name: "Bern" },
        ];
        const file = streamOf(csvOf(rows, ["code", "name"]));
        const { names, rejects } = await readSubdivisions(file, new Set(["CH-ZH", "CH-BE"]));
        expect([...names]).toEqual([["CH-BE", "Bern"]]);
        expect(rejects).toMatchObject([{ reason: "bad_text", id: "CH-ZH" }]);
      }
    });
  });

  it.each(AIRPORT_COLUMNS)(
    "of a million characters refuses the file by name: %s",
    async (column) => {
      for (const piece of [PIECES["a repetition that never ends"], PIECES.capitals])
        await expect(readWith(column, long(piece, 1_000_000))).rejects.toMatchObject({
          fault: "malformed_csv",
          message: expect.stringContaining("over 262144 characters"),
        });
    },
  );

  it.each(Object.entries(PIECES))("costs what it costs unread: %s", async (_, piece) => {
    const text = long(piece, 50_000);
    const cost = async (column: string) => {
      const start = performance.now();
      await readWith(column, text);
      return performance.now() - start;
    };
    for (const column of ["name", "municipality", "iata_code", "id"]) {
      const read = Math.min(await cost(column), await cost(column), await cost(column));
      // An expression that is worse than linear makes it a thousand times as much.
      expect(read / (await cost("keywords"))).toBeLessThan(50);
    }
  });
});
