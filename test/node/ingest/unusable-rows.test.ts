import { describe, expect, it } from "vitest";
import type { AcceptedAirport } from "../../../src/acceptance/airport.ts";
import type { Reject } from "../../../src/catalog/source-airport.ts";
import { findUnusable } from "../../../src/ingest/unusable-rows.ts";
import { countReasons } from "../../../src/sources/upstream-reader.ts";
import { aSourceAirport } from "../../builders/source.ts";

/** Airports of a country, with codes and row numbers that no other country has. */
const airportsOf = (country: string, count: number): AcceptedAirport[] =>
  Array.from({ length: count }, (_, index) => {
    const row = `${Number.parseInt(country, 36)}${index}`;
    const iata = `${country}${String.fromCharCode(65 + index)}`;
    return { ...aSourceAirport({ id: row, iata, country }), row };
  });
const rejected = (airports: readonly AcceptedAirport[], reason = "unknown_country"): Reject[] =>
  airports.map(({ row, iata }, line) => ({ reason, line, iata, id: row }));

const SWISS = airportsOf("CH", 20);
const NAMIBIA = airportsOf("NA", 9);
const NAURU = airportsOf("NR", 1);
const served = [...SWISS, ...NAMIBIA, ...NAURU];

const find = (rejects: readonly Reject[], regionRejects: readonly Reject[] = []) => {
  const bad = new Set(rejects.map(({ id }) => id));
  const airports = served.filter(({ row }) => !bad.has(row));
  return findUnusable(served, { airports, rejects }, regionRejects);
};

describe("findUnusable", () => {
  it.each<[string, readonly Reject[]]>([
    ["nothing", []],
    ["four of many airports", rejected(SWISS.slice(0, 4))],
    ["rows of airports that are not served", rejected(airportsOf("XX", 4))],
  ])("is silent about %s", (_, rejects) => {
    expect(find(rejects)).toEqual([]);
  });

  it("names a country that is unusable as a whole, and the reason", () => {
    expect(find(rejected(NAMIBIA))).toEqual([
      { of: "country", name: "NA", rows: 9 },
      { of: "airports", name: "unknown_country", rows: 9 },
    ]);
  });

  it("names a country whose only airport is unusable", () => {
    expect(find(rejected(NAURU))).toEqual([{ of: "country", name: "NR", rows: 1 }]);
  });

  it("names five airports of a country, known by their codes where the row number is lost", () => {
    const rejects = rejected(SWISS.slice(0, 5), "missing_required").map((row) => ({
      ...row,
      id: "",
      iata: ` ${row.iata.toLowerCase()}`,
    }));
    const airports = SWISS.slice(5);
    expect(findUnusable(SWISS, { airports, rejects }, [])).toEqual([
      { of: "country", name: "CH", rows: 5 },
      { of: "airports", name: "missing_required", rows: 5 },
    ]);
  });

  it("counts no airport whose own row is usable, whatever else claims its code", () => {
    const rejects = rejected(SWISS.slice(0, 5), "duplicate_iata").map((row) => ({
      ...row,
      id: "",
    }));
    expect(findUnusable(SWISS, { airports: SWISS, rejects }, [])).toEqual([
      { of: "airports", name: "duplicate_iata", rows: 5 },
    ]);
  });

  it("names the problems of the subdivisions", () => {
    const regions = rejected(SWISS.slice(0, 6), "bad_text");
    expect(find([], regions)).toEqual([{ of: "regions", name: "bad_text", rows: 6 }]);
  });
});

it("reasons are counted, the commonest first", () => {
  const rejects = [...rejected(NAURU, "bad_iata"), ...rejected(NAMIBIA, "bad_text")];
  expect(Object.entries(countReasons(rejects))).toEqual([
    ["bad_text", 9],
    ["bad_iata", 1],
  ]);
});
