/** Schemas of values that several answers share. */
import { z } from "zod";

/** RFC 3339, UTC, with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });
export const hexHash = z.string().regex(/^[0-9a-f]{64}$/);
/** How many there are of something. */
export const count = z.int().min(0);

/** A number for each list of the catalog. */
export const listCounts = z
  .strictObject({ airports: count, cities: count, countries: count, regions: count })
  .meta({ id: "ListCounts" });

/** A type whose objects and arrays nobody changes. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
