import { tidy } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import {
  type CatalogRegion,
  countryOfRegion,
  ownCountry,
  type PlainRegion,
  subdivisionKey,
} from "./catalog-region.ts";
import { withCommaBelow } from "./city-names.ts";
import { readQualification } from "./locale-names.ts";
import { type JoinedRegion, type JoinSources, upstreamCodes } from "./region-join.ts";
import { withCountries } from "./shared-names.ts";
import { baseSlugs } from "./slugs.ts";
import { compareCodeUnits } from "./text.ts";

/** Regions that stand for "no region known": `XX-U-A`. */
export const DUMMY = /-U-A$/u;

const LARGER: ReadonlySet<string> = new Set(["large_airport", "medium_airport"]);
const AIRFIELDS: ReadonlySet<string> = new Set([...LARGER, "small_airport"]);
/** From this many small airfields on, one of them may get an IATA code. */
const AIRFIELDS_MIN = 3;

/**
 * The codes of subdivisions in which upstream has a larger airport, or three airfields: one of them
 * may have an IATA code one day.
 */
export function codesWithAirfields(rows: readonly Pick<AirportRow, "type" | "region">[]): string[] {
  const airfields = rows.filter(({ type }) => AIRFIELDS.has(type));
  return [...Map.groupBy(airfields, ({ region }) => region)]
    .filter(([, its]) => its.length >= AIRFIELDS_MIN || its.some(({ type }) => LARGER.has(type)))
    .map(([code]) => code);
}

/**
 * The subdivisions that no airport is in yet and that CLDR names, by key. Names and slugs of the
 * regions that have airports come first. A part of a territory is none.
 *
 * @param regions those with airports.
 * @param joined upstream's codes with what they are in CLDR.
 */
export function findSpareRegions(
  regions: readonly CatalogRegion[],
  joined: readonly JoinedRegion[],
  { english, valid }: Pick<JoinSources, "english" | "valid">,
): CatalogRegion[] {
  const used = new Set([
    ...regions.flatMap(({ members }) => members),
    ...joined.map(({ code }) => code),
  ]);
  const taken = new Set(regions.flatMap(({ members, cldr }) => [...members, ...cldr]));
  const territories = new Set(
    regions.filter(({ key }) => countryOfRegion(key) === "").map(({ key }) => ownCountry(key)),
  );
  const spare = joined.filter(
    ({ code, cldr: [cldr = ""] }) =>
      english.has(cldr) &&
      !taken.has(cldr) &&
      !taken.has(code) &&
      !DUMMY.test(code) &&
      !territories.has(code.slice(0, 2)),
  );
  const plain = [...Map.groupBy(spare, ({ cldr: [cldr] }) => cldr)].map(
    ([cldr = "", its]): PlainRegion => {
      const members = upstreamCodes(its, used, valid);
      const name = tidy(english.get(cldr) ?? "");
      return { key: subdivisionKey(members[0] ?? ""), name, members, cldr: its[0]?.cldr ?? [] };
    },
  );
  const others = regions.map((region) => ({ ...region, name: region.bareName }));
  return nameRegions(plain, others).toSorted((a, b) => compareCodeUnits(a.key, b.key));
}

/**
 * Gives regions their slugs, and the names that several countries share their country.
 *
 * @param others regions that have names beside them, and whose come first.
 */
export function nameRegions(
  regions: readonly PlainRegion[],
  others: readonly PlainRegion[] = [],
): CatalogRegion[] {
  const plain = regions.map((region) => ({
    ...region,
    name: withCommaBelow(region.name, countryOfRegion(region.key)),
  }));
  const all = [...others, ...plain];
  const slugs = baseSlugs(all);
  const names = withCountries(
    new Map(all.map(({ key, name }) => [key, name])),
    readQualification("en"),
  );
  return plain.map((region): CatalogRegion => {
    const { key, name: bareName } = region;
    const [slug, name] = [slugs.get(key), names.get(key)];
    if (slug === undefined || name === undefined) throw new Error(`region ${key} has no slug`);
    return { ...region, slug, name, bareName };
  });
}
