import { foldText } from "../../src/catalog/fold.ts";
import type { AirportRow } from "./airports.ts";
import type { City } from "./city.ts";
import type { Position } from "../../src/catalog/distance.ts";
import { roundCoordinate, tidy } from "./text.ts";

/** Cities that GeoNames does not have, one for each municipality of a region, at the mean of its airports. */
export class SyntheticCities {
  readonly #members = new Map<string, AirportRow[]>();
  readonly #names = new Map<number, string>();

  /** Adds an airport of the city of this name. */
  add(airport: AirportRow, name: string): void {
    this.#names.set(airport.id, tidy(name));
    const key = this.#key(airport);
    this.#members.set(key, [...(this.#members.get(key) ?? []), airport]);
  }

  city(airport: AirportRow): City {
    const key = this.#key(airport);
    const members = this.#members.get(key) ?? [airport];
    const first = members[0] ?? airport;
    const mean = meanPosition(members);
    return { key, name: this.#name(first), country: first.country, ...mean };
  }

  #key(airport: AirportRow): string {
    return `ourairports:${airport.region}:${foldText(this.#name(airport))}`;
  }

  #name(airport: AirportRow): string {
    const name = this.#names.get(airport.id);
    if (name === undefined || foldText(name) === "")
      throw new Error(`airport ${airport.id} has no name for its city`);
    return name;
  }
}

/** The mean direction of the positions, so that it also holds across the antimeridian. */
function meanPosition(positions: readonly Position[]): Position {
  const only = positions[0];
  if (only !== undefined && positions.length === 1) {
    return { lat: roundCoordinate(only.lat), lon: roundCoordinate(only.lon) };
  }
  let [x, y, z] = [0, 0, 0];
  for (const { lat, lon } of positions) {
    const [phi, lambda] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180];
    x += Math.cos(phi) * Math.cos(lambda);
    y += Math.cos(phi) * Math.sin(lambda);
    z += Math.sin(phi);
  }
  return {
    lat: roundCoordinate((Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI),
    lon: roundCoordinate((Math.atan2(y, x) * 180) / Math.PI),
  };
}
