import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { regionsFinder } from "../explorer/regions-finder.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";

const ANSWER = snapshotResponse();
const BYTES = toBinary(LocationsResponseSchema, ANSWER);

/** Where the regions start, with chunks of this size. */
function regionsAt(bytes: Uint8Array, size: number): number | undefined {
  const find = regionsFinder();
  for (let at = 0; at < bytes.length; at += size) {
    const found = find(bytes.subarray(at, at + size));
    if (found !== undefined) return found;
  }
  return undefined;
}

describe("the start of an answer", () => {
  it.each([1, 7, 16_384, BYTES.length])("ends where the regions start, in chunks of %d", (size) => {
    const beginning = fromBinary(
      LocationsResponseSchema,
      BYTES.subarray(0, regionsAt(BYTES, size)),
    );
    expect(beginning).toEqual({ ...ANSWER, regions: [] });
  });

  it("has no end before the first region has arrived", () => {
    const { airports, cities, countries } = ANSWER;
    const without = create(LocationsResponseSchema, { airports, cities, countries });
    expect(regionsAt(toBinary(LocationsResponseSchema, without), 16_384)).toBeUndefined();
  });
});
