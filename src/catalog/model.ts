/** The model. Ids are a UUID's 16 bytes; texts are NFC, trimmed and, but for `icao` and `phonePrefix`, not empty. */
import type { Message } from "@bufbuild/protobuf";
import type * as contract from "../../gen/locations/v1/locations_pb.ts";

/** The fields of a message, with the bytes of its ids. */
type Entity<M extends Message> = {
  readonly [F in Exclude<keyof M, keyof Message>]: M[F] extends contract.Uuid | undefined
    ? Uint8Array
    : M[F];
};

export type Airport = Entity<contract.Airport>;
export type City = Entity<contract.City>;
export type Country = Entity<contract.Country>;

export interface Region {
  readonly id: Uint8Array;
  /** Key of the localized names: `m49:029`, `iso3166-2:FR-OCC` or `travel:benelux`. */
  readonly key: string;
  readonly slug: string;
  readonly name: string;
  /** Ascending. */
  readonly airportIataCodes: readonly string[];
}

/** Has no localized names. Airports are sorted by IATA code, cities and countries by id, regions by slug. */
export interface Catalog {
  readonly airports: readonly Airport[];
  readonly cities: readonly City[];
  readonly countries: readonly Country[];
  readonly regions: readonly Region[];
}

export interface LocalizedName {
  readonly name: string;
  readonly slug: string;
}

/** Names of one locale by region key. A missing region has its English name and base slug. */
export type RegionNames = ReadonlyMap<string, LocalizedName>;

/** Length of each list, equal in every locale. */
export interface Counts {
  readonly airports: number;
  readonly cities: number;
  readonly countries: number;
  readonly regions: number;
}
