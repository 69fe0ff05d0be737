import type { AirportRow } from "./airports.ts";
import type { Position } from "../../src/catalog/positions.ts";

/** Which rule gave an airport its city. */
export type CityOrigin =
  "served_city" | "municipality" | "airport_name" | "nearest" | "synthetic" | "override";

/** A city with at least one airport. */
export interface City extends Position {
  /** `geonames:<id>` or `ourairports:<ISO_REGION>:<folded-municipality>`. */
  readonly key: string;
  readonly name: string;
  readonly country: string;
  /** Upstream's code of its subdivision; empty where upstream divides the country otherwise. */
  readonly region: string;
  /** Inhabitants to one digit; 0 where no source has them. */
  readonly population: number;
}

/** One airport's city and the rule that found it. */
export interface Assignment {
  readonly airport: AirportRow;
  readonly city: City;
  readonly origin: CityOrigin;
}
