import type { AirportPlace, CatalogIndex, CountryPlace } from "../catalog-index.ts";
import { project } from "./mercator.ts";
import type { Shape, WorldOutline } from "./world-outline.ts";

/** Number of airports that locate a country's shape. */
const SAMPLE_SIZE = 9;

/**
 * Finds the shape of each country: the one with most of its airports. The outline has no ISO 3166-1
 * alpha-2 codes, and small islands have no shape.
 */
export function findCountryShapes(
  catalog: CatalogIndex,
  { lands }: WorldOutline,
): ReadonlyMap<CountryPlace, Shape> {
  const found = new Map<CountryPlace, Shape>();
  for (const country of catalog.countries) {
    const shape = mostCommon(sample(country.airports).map((place) => landOf(place, lands)));
    if (shape !== undefined) found.set(country, shape);
  }
  return found;
}

function sample(airports: readonly AirportPlace[]): AirportPlace[] {
  const step = Math.max(1, Math.floor(airports.length / SAMPLE_SIZE));
  return airports.filter((_, index) => index % step === 0);
}

function landOf({ airport }: AirportPlace, lands: readonly Shape[]): Shape | undefined {
  const { x, y } = project(airport.lon, airport.lat);
  return lands.find(
    ({ west, east, north, south, contains }) =>
      x >= west && x <= east && y >= north && y <= south && contains(airport.lon, airport.lat),
  );
}

function mostCommon(shapes: readonly (Shape | undefined)[]): Shape | undefined {
  const counts = new Map<Shape, number>();
  for (const shape of shapes) {
    if (shape !== undefined) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  }
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  return best?.[0];
}
