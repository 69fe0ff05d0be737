import { foldText, tidy } from "../../src/catalog/fold.ts";
import { meanPosition } from "../../src/catalog/positions.ts";
import type { AirportRow } from "./airports.ts";
import type { City } from "./city.ts";
import { roundCoordinate } from "./text.ts";

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
    const { lat, lon } = meanPosition(members);
    const position = { lat: roundCoordinate(lat), lon: roundCoordinate(lon) };
    return {
      key,
      name: this.#name(first),
      country: first.country,
      region: first.region,
      population: 0,
      ...position,
    };
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
