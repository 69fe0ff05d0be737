import type { CityPlace, Place, RegionPlace } from "./catalog.ts";

/** A place that was found, as a picker lists it. */
export interface Suggestion {
  readonly kind: Place["kind"];
  /** UUID in its usual text form. */
  readonly id: string;
  readonly name: string;
  /** Tells apart places of one name: `Maine, United States`. Empty for a country. */
  readonly where: string;
  /** IATA codes: of an airport its own, of anything else those of its airports, the busiest first. */
  readonly airports: readonly string[];
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
}

export function suggestionOf(place: Place, isUnderCity: boolean): Suggestion {
  const { kind, id, name } = place;
  const airports = place.kind === "airport" ? [place] : place.airports;
  const codes = airports.toSorted((a, b) => a.rank - b.rank).map(({ iata }) => iata);
  return { kind, id, name, where: whereIs(place), airports: codes, isUnderCity };
}

function whereIs(place: Place): string {
  switch (place.kind) {
    case "airport":
      return `${place.city.name}, ${place.city.country.name}`;
    case "city": {
      const region = subdivisionOf(place);
      return region ? `${region.name}, ${place.country.name}` : place.country.name;
    }
    case "country":
      return "";
    case "region": {
      const [country, other] = new Set(place.airports.map(({ city }) => city.country));
      return country && !other ? country.name : "";
    }
    default:
      return place satisfies never;
  }
}

/**
 * Finds the region within the country that has most of a city's service: a subdivision, whose slug
 * ends in the country's code, before a travel region. None of the city's own name: Vienna,
 * and none of a city that its airports are outside of: Berlin.
 */
export function subdivisionOf({
  name,
  country,
  airports,
  isApart,
}: CityPlace): RegionPlace | undefined {
  if (isApart) return undefined;
  const service = new Map<RegionPlace, number>();
  for (const { regions, tier } of airports)
    for (const region of regions)
      if (region.airports.every(({ city }) => city.country === country))
        service.set(region, (service.get(region) ?? 0) + 4 - tier);
  const suffix = `-${country.code.toLowerCase()}`;
  const isSubdivision = ({ slug }: RegionPlace) => Number(slug.endsWith(suffix));
  const [most] = [...service].toSorted(
    ([a, ofA], [b, ofB]) =>
      isSubdivision(b) - isSubdivision(a) || ofB - ofA || a.airports.length - b.airports.length,
  );
  return most && most[0].nameEnglish !== name ? most[0] : undefined;
}
