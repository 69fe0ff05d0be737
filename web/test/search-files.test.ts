import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, it } from "vitest";
import { rankPlaces } from "../build/search-files.ts";
import { readTable, type Row } from "../build/snapshot-table.ts";
import { catalogFinder } from "../../test/builders/catalog-finder.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";

function readCurated(name: string): Row[] {
  return parse(readFileSync(`data/curated/${name}`), { columns: true });
}

it("closed-airports.csv leads from each airport to one with scheduled service", async () => {
  const rows = readCurated("closed-airports.csv");
  const { airports, closed = [] } = rankPlaces();
  const codes = new Set(readTable("snapshot/airports.csv.gz").map((row) => row["iata_code"]));
  expect(closed.length).toBe(rows.length);
  expect(closed.filter(({ iata }) => codes.has(iata))).toEqual([]);
  expect(closed.filter(({ successor }) => !airports.includes(successor))).toEqual([]);
  expect(rows.filter(({ source, reason }) => source === "" || reason === "")).toEqual([]);
  const find = await catalogFinder(snapshotResponse());
  for (const { iata, name, names, successor } of closed)
    for (const typed of [iata, name, ...names].filter((text) => text !== "")) {
      const found = find(typed).slice(0, 2);
      const first = found.find(({ place }) => place.kind === "airport")?.place;
      expect(first, typed).toMatchObject({ iata: successor });
    }
});

it("tourist-places.csv names only airports with scheduled service, and regions", () => {
  const codes = readCurated("tourist-places.csv")
    .flatMap(({ place = "" }) => place.split(" "))
    .filter((one) => !one.includes(":"));
  const airports = new Set(rankPlaces().airports);
  expect(codes.length).toBeGreaterThan(0);
  expect(codes.filter((code) => !airports.has(code))).toEqual([]);
});
