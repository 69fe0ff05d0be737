import { createHash, randomBytes } from "node:crypto";
import { constants, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodesTo, encodeDcz } from "../../../src/catalog/dcz.ts";
import { findMatches } from "../../../src/catalog/find-matches.ts";
import { fuzzed } from "../../builders/fuzzed.ts";

/** The dictionary's hash, which browsers compare before they decode, is in a frame of its own. */
const DICTIONARY_FRAME_BYTES = 40;

function compress(dictionary: Uint8Array, target: Uint8Array) {
  const sha256 = createHash("sha256").update(dictionary).digest("hex");
  return encodeDcz({
    dictionary: { sha256, bytes: dictionary.length },
    target,
    matches: findMatches(dictionary, target),
  });
}

/** Decodes with zstd itself, as a client does: up to a window of 8 MB. */
function decompress(dictionary: Uint8Array, dcz: Uint8Array): Buffer {
  const sha256 = createHash("sha256").update(dictionary).digest();
  const head = Buffer.concat([Buffer.from("5e2a4d1820000000", "hex"), sha256]);
  expect(Buffer.from(dcz.subarray(0, 40)).equals(head)).toBe(true);
  const params = { [constants.ZSTD_d_windowLogMax]: 23 };
  return zstdDecompressSync(dcz.subarray(40), { dictionary, params });
}

function expectExact(dictionary: Uint8Array, target: Uint8Array): Uint8Array {
  const dcz = compress(dictionary, target);
  expect(decompress(dictionary, dcz).equals(target)).toBe(true);
  const half = dictionary.length >> 1;
  expect(decodesTo(dcz, [dictionary.subarray(0, half), dictionary.subarray(half)], target)).toBe(
    true,
  );
  return dcz;
}

/** Bytes that are cut out of others, put into them or repeated, at any place. */
const anyEdits = fc.array(
  fc.record({
    at: fc.nat(400_000),
    removed: fc.oneof(fc.nat(40), fc.nat(300_000)),
    added: fc.uint8Array({ maxLength: 300 }),
    copied: fc.oneof(fc.constant(0), fc.nat(300_000)),
  }),
  { maxLength: 12 },
);

function edited(
  bytes: Uint8Array,
  edits: typeof anyEdits extends fc.Arbitrary<infer E> ? E : never,
) {
  return edits.reduce((before, { at, removed, added, copied }) => {
    const start = Math.min(at, before.length);
    const rest = before.subarray(Math.min(start + removed, before.length));
    return Buffer.concat([before.subarray(0, start), added, before.subarray(0, copied), rest]);
  }, Buffer.from(bytes));
}

describe("a delta in dcz", () => {
  it("decodes to its target, whatever has changed", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 1, 63, 131, 5_000, 131_072, 400_000),
        anyEdits,
        (size, edits) => {
          const dictionary = randomBytes(size);
          expectExact(dictionary, edited(dictionary, edits));
        },
      ),
      fuzzed(30),
    );
  });

  it("decodes copies of every length at the limits of blocks and codes", () => {
    const dictionary = randomBytes(300_000);
    const around = (bytes: number) => [-3, -2, -1, 0, 1, 2, 3, 4].map((more) => bytes + more);
    for (const bytes of [128, 131, 259, 65_539, 131_072, 131_203, 262_144].flatMap(around))
      expectExact(dictionary, dictionary.subarray(300_000 - bytes));
  });

  it("decodes distant copies in repetitive text", () => {
    const text = Buffer.from("the name of the airport and the name of the city; ".repeat(60_000));
    expectExact(text, Buffer.concat([text.subarray(7), text.subarray(0, 1_000_001)]));
  });

  it("fails its proof if it is damaged, cut or made for another dictionary or target", () => {
    const dictionary = randomBytes(200_000);
    const target = Buffer.concat([dictionary.subarray(1_000), Buffer.from("and more")]);
    const dcz = compress(dictionary, target);
    expect(decodesTo(dcz, [dictionary], target)).toBe(true);
    const changed = (bytes: Uint8Array, at: number) =>
      bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
    const damaged = [...dcz.keys()].slice(DICTIONARY_FRAME_BYTES).map((at) => changed(dcz, at));
    const proved = damaged.filter((each) => decodesTo(each, [dictionary], target));
    // Some bits have no meaning.
    for (const each of proved) expect(decompress(dictionary, each).equals(target)).toBe(true);
    expect(proved.length).toBeLessThan(damaged.length / 8);
    for (const cut of [1, 3, 10])
      expect(decodesTo(dcz.subarray(0, -cut), [dictionary], target)).toBe(false);
    expect(decodesTo(dcz, [changed(dictionary, 1_000)], target)).toBe(false);
    expect(decodesTo(dcz, [dictionary], changed(target, 0))).toBe(false);
    expect(decodesTo(dcz, [dictionary], target.subarray(1))).toBe(false);
  });

  it("takes a few bytes for each of ten edits in 3.5 MB, and nothing for the rest", () => {
    const dictionary = randomBytes(3_500_000);
    const target = Buffer.from(dictionary);
    for (let edit = 0; edit < 10; edit++) target.write("renamed", 300_000 * edit + 12_345);
    expect(expectExact(dictionary, dictionary).length).toBeLessThan(500);
    expect(expectExact(dictionary, target).length).toBeLessThan(800);
  });
});
