import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { rankPlaces } from "../build/search-files.ts";

it("tourist-places.csv names only airports with scheduled service, and regions", () => {
  const rows: { readonly place: string }[] = parse(
    readFileSync("data/curated/tourist-places.csv"),
    { columns: true },
  );
  const codes = rows.flatMap(({ place }) => place.split(" ")).filter((one) => !one.includes(":"));
  const airports = new Set(rankPlaces().airports);
  expect(codes.length).toBeGreaterThan(0);
  expect(codes.filter((code) => !airports.has(code))).toEqual([]);
});
