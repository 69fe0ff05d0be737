import type { AirportRow } from "./airports.ts";
import { countryOfRegion, type PlainRegion } from "./catalog-region.ts";
import { shortTerritoryName, readTerritoryNames } from "./locale-names.ts";
import { compareCodeUnits } from "./text.ts";

/**
 * The countries that are regions themselves, because they have no subdivision with an airport:
 * Puerto Rico, Aruba, Hong Kong.
 *
 * @param subdivisions of all countries; one that is joined to its own country is a part of it
 *   that ISO does not know, and its codes become members of the territory.
 */
export function territories(
  airports: readonly AirportRow[],
  subdivisions: readonly PlainRegion[],
): PlainRegion[] {
  const english = readTerritoryNames("en");
  const divided = new Set(
    subdivisions.filter((part) => !isPartOfTerritory(part)).map(({ key }) => countryOfRegion(key)),
  );
  const countries = new Set(airports.map(({ country }) => country).filter((c) => !divided.has(c)));
  return [...countries].toSorted(compareCodeUnits).map((country): PlainRegion => {
    const parts = subdivisions.filter(
      (part) => isPartOfTerritory(part) && part.cldr[0] === country,
    );
    return {
      key: `iso3166-1:${country}`,
      name: shortTerritoryName(english, country),
      members: [country, ...parts.flatMap(({ members }) => members)],
      cldr: [country],
    };
  });
}

/** Whether a subdivision is a part of a territory that ISO 3166-2 does not divide. */
export function isPartOfTerritory({ key, cldr }: PlainRegion): boolean {
  return cldr[0] === countryOfRegion(key);
}
