import { beforeAll, describe, expect, it } from "vitest";
import { type Catalog, packCatalog, unpackCatalog } from "../../client/src/catalog.ts";
import { readRanks } from "../../client/src/search/ranks.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";
import { rankPlaces } from "../build/search-files.ts";
import { nearestAirports } from "../explorer/places.ts";
import { positionOf } from "../explorer/positions.ts";

/** With all places of the snapshot; a service has no region without an airport. */
let catalog: Catalog;
beforeAll(async () => {
  catalog = await unpackCatalog(packCatalog(snapshotResponse(), readRanks(rankPlaces())));
});

describe.each(["countries", "cities"] as const)("each of the %s", (list) => {
  it("leads to airports: its own, or those nearest to it", () => {
    const { airports } = catalog;
    const places = catalog[list];
    expect(places.length).toBeGreaterThanOrEqual(250);
    const deadEnds = places.filter((place) => {
      if (place.airports.length > 0) return false;
      const position = positionOf(place);
      return position === null || nearestAirports(airports, position).scheduled.length === 0;
    });
    expect(deadEnds.map(({ name }) => name)).toEqual([]);
  });
});

it("each country leads somewhere also where the catalog has scheduled flights only", () => {
  const deadEnds = catalog.countries
    .map((country) => ({ ...country, airports: country.airports.filter(({ tier }) => tier < 3) }))
    .filter((country) => country.airports.length === 0 && positionOf(country) === null);
  expect(deadEnds.map(({ name }) => name)).toEqual([]);
});
