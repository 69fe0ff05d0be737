/** Schemas of values that several answers share. */
import * as z from "zod";

/** RFC 3339, UTC, with milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });
export const hexHash = z.string().regex(/^[0-9a-f]{64}$/);
export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * The id of a resource in a path, query or body: a UUIDv7 in lower case.
 *
 * @param list path of the route that lists such ids.
 */
export function idOf(what: string, list: `/${string}`) {
  const described = `the UUIDv7 of ${what}, in lower case, from GET ${list}`;
  const message = `must be ${described}`;
  const description = described.replace("the", "The");
  return z.string(message).regex(UUID_V7, message).meta({ format: "uuid", description });
}

/** A number of things. */
export const count = z.int().min(0);

/** A number for each list of the catalog. */
export const listCounts = z
  .strictObject({ airports: count, cities: count, countries: count, regions: count })
  .meta({ id: "ListCounts", description: "The number of entries of each list." });

/** A type whose objects and arrays nobody changes. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
