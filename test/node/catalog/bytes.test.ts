import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameRun, letGo } from "../../../src/catalog/bytes.ts";

const cuts = fc.array(fc.nat({ max: 30 }), { maxLength: 8 });

describe("isSameRun", () => {
  it("is told by the bytes, not by the pieces that they come in", async () => {
    const run = fc.uint8Array({ maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(run, cuts, cuts, async (bytes, some, others) => {
        expect(await isSameRun(inPieces(bytes, some), inPieces(bytes, others))).toBe(true);
      }),
    );
  });

  it.each([
    ["has another byte", [1, 2, 4]],
    ["ends earlier", [1, 2]],
    ["is empty", []],
    ["goes on", [1, 2, 3, 0]],
  ])("is false where one %s, however both are cut", async (_, bytes) => {
    const whole = Uint8Array.of(1, 2, 3);
    const other = Uint8Array.from(bytes);
    await fc.assert(
      fc.asyncProperty(cuts, cuts, async (some, others) => {
        expect(await isSameRun(inPieces(whole, some), inPieces(other, others))).toBe(false);
        expect(await isSameRun(inPieces(other, others), inPieces(whole, some))).toBe(false);
      }),
    );
  });
});

/** The bytes cut at some places, with empty pieces where two are the same. */
async function* inPieces(bytes: Uint8Array, at: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...at.map((place) => Math.min(place, bytes.length)), bytes.length];
  let begin = 0;
  for (const end of ends.toSorted((a, b) => a - b)) {
    yield bytes.subarray(begin, end);
    begin = end;
  }
}

describe("letGo", () => {
  it("empties bytes that are all of their buffer", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    letGo(bytes);
    expect(bytes.length).toBe(0);
  });

  it("leaves alone what is a part of a larger buffer", () => {
    const whole = Uint8Array.of(1, 2, 3);
    letGo(whole.subarray(1));
    expect(whole).toEqual(Uint8Array.of(1, 2, 3));
  });
});
