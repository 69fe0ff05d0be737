/** Schemas of values that several answers share. */
import * as z from "zod";
import { CRC32_MAX, FILE_BYTES_MAX, GENERATION_MAX } from "../platform/ranges.ts";
import { storedTimes } from "./stored-times.ts";

/** A time that may be in the future: RFC 3339, UTC, with milliseconds. */
export const deadline = z.iso
  .datetime({ precision: 3 })
  .meta({ example: "2026-11-23T22:14:08.434Z" });
/** A time in the past. */
export const timestamp = deadline.meta({}).register(storedTimes, { toleranceMs: 0 });
export const hexHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ example: "f8b1a51b22f2b14617b4bb5ef96947a2f807a3d62e850a43861f691490a25eb5" });
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
  const example = "01a20a79-4132-77d5-9569-3b8f9a4ee0f6";
  return z.string(message).regex(UUID_V7, message).meta({ format: "uuid", description, example });
}

export const count = z.int().min(0);

export const fileBytes = count.max(FILE_BYTES_MAX);
export const crc32 = count.max(CRC32_MAX);

export const generation = z.int().min(1).max(GENERATION_MAX);

export const listCounts = z
  .strictObject({ airports: count, cities: count, countries: count, regions: count })
  .meta({ id: "ListCounts", description: "The number of entries of each list." });

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
