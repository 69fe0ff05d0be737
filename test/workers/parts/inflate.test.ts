import { describe, expect, it } from "vitest";
import { compressPart } from "../../../src/parts/codings.ts";
import { inflatePart } from "../../../src/parts/inflate.ts";

/** Words that repeat, but not at once. */
function someBytes(length: number): Uint8Array {
  const words = Array.from({ length: length / 8 + 1 }, (_, at) =>
    Math.imul(at, 0x9e3779b1).toString(16).padStart(8, "0").slice(-8),
  );
  return new TextEncoder().encode(words.join("")).subarray(0, length);
}

const deflated = (bytes: Uint8Array) =>
  compressPart({ bytes, coding: "gzip", offset: 0, windowBits: 0, effort: "fast" });

describe("inflatePart", () => {
  // workerd's buffer grows in steps, and must not reach the limit.
  it.each([
    0, 1, 1_200, 16_384, 32_768, 42_032, 65_536, 82_960, 168_664, 332_896, 657_024, 5_000_000,
  ])("gives %i bytes", (length) => {
    const bytes = someBytes(length);
    expect(inflatePart(deflated(bytes), length)?.equals(bytes)).toBe(true);
  });

  it.each([1_000, 999_999, 1_000_001, 5_000_000])(
    "gives nothing if a part of 1,000,000 bytes is to have %i",
    (length) => {
      expect(inflatePart(deflated(someBytes(1_000_000)), length)).toBeUndefined();
    },
  );
});
