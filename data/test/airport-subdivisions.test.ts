import { describe, expect, it } from "vitest";
import { checkSubdivisions } from "../build/airport-subdivisions.ts";
import type { AirportRow } from "../build/airports.ts";
import { Gazetteer, type GeoPlace } from "../build/gazetteer.ts";

const airport = {
  iata: "JOM",
  country: "TZ",
  region: "TZ-04",
  municipality: "Njombe",
  lat: -9.35,
  lon: 34.8,
} as AirportRow;
const iringa = {
  key: "iso3166-2:TZ-04",
  slug: "iringa-tz",
  name: "Iringa",
  bareName: "Iringa",
  members: ["TZ-04"],
  cldr: ["tz04"],
};
const divisions = new Map([
  ["TZ-04", { name: "Iringa", cldr: ["tz04"] }],
  ["TZ-30", { name: "Njombe", cldr: ["tz29"] }],
]);

/** A place so many kilometres north of the airport. */
function aPlace(km: number, subdivision: string): GeoPlace {
  const name = `${subdivision} at ${km} km`;
  const position = { lat: airport.lat + km / 111.2, lon: airport.lon };
  return { id: km, name, country: "TZ", subdivision, feature: "PPL", population: 0, ...position };
}

function check(
  places: readonly GeoPlace[],
  {
    region = iringa,
    here = airport,
    told = [],
  }: { region?: typeof iringa; here?: AirportRow; told?: [string, string][] } = {},
): string[] {
  return checkSubdivisions({
    airports: [here],
    regions: [region],
    gazetteer: new Gazetteer(new Map(), places),
    divisions,
    told: new Map(told),
  });
}

const NJOMBE = [aPlace(3, "30"), aPlace(8, "30"), aPlace(19, "30"), aPlace(20, "04")];

describe("checkSubdivisions", () => {
  it("finds an airport whose nearest places are all in another subdivision", () => {
    expect(check(NJOMBE)).toEqual([
      "JOM is in Iringa, but 30 at 3 km beside it in Njombe (GeoNames): list it in curated/region-members.csv under the right one",
    ]);
    expect(check([aPlace(3, "30")])).toHaveLength(1);
  });

  it.each([
    { what: "places of both subdivisions beside it", places: [...NJOMBE, aPlace(5, "04")] },
    { what: "only places farther than 20 km", places: [aPlace(21, "30")] },
    { what: "no places", places: [] },
    { what: "places of a subdivision that CLDR lacks", places: [aPlace(3, "99")] },
  ])("leaves an airport with $what", ({ places }) => {
    expect(check(places)).toEqual([]);
  });

  it("leaves an airport that a row lists", () => {
    expect(check(NJOMBE, { told: [["JOM", "TZ-29"]] })).toEqual([]);
  });

  it("leaves the airport of a city that is a subdivision", () => {
    expect(check(NJOMBE, { here: { ...airport, municipality: "Iringa" } })).toEqual([]);
  });

  it("leaves a subdivision that GeoNames does not have", () => {
    expect(check(NJOMBE, { region: { ...iringa, cldr: ["tz99"] } })).toEqual([]);
  });
});
