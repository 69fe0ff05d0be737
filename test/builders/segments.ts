/** What is expected of segments in any runtime. */
import { Buffer } from "node:buffer";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect } from "vitest";
import type { Coding } from "../../src/catalog/manifest.ts";
import { type Effort, segmentCoder, windowBitsFor } from "../../src/ingest/segment-coders.ts";

/** The bytes that a client makes of a body. */
export function decoded(coding: Coding, body: Uint8Array): Buffer {
  switch (coding) {
    case "identity":
      return Buffer.from(body);
    case "gzip":
      return gunzipSync(body);
    case "br":
      return brotliDecompressSync(body);
    default:
      return coding satisfies never;
  }
}

/** Bytes with repetitions and without, so that there is something to compress. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc
    .tuple(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 }),
      fc.integer({ min: 0, max: 400 }),
    )
    .map(([word, times]) => new TextEncoder().encode(word.repeat(times))),
);

/** Cuts bytes anywhere into head, two middles and tail, and decodes their joined segments. */
export function expectSegmentsJoin(coding: Coding): void {
  const coder = segmentCoder(coding, windowBitsFor(0));
  fc.assert(
    fc.property(
      fc.tuple(anyBytes, anyBytes, anyBytes, anyBytes),
      fc.constantFrom<Effort>("fast", "best"),
      ([head, first, second, tail], effort) => {
        const parts = [head, first, second, tail];
        const atSecond = head.length + first.length;
        const joined = Buffer.concat([
          coder.open(head),
          coder.middle(first, head.length, effort),
          coder.middle(second, atSecond, effort),
          coder.close(tail, atSecond + second.length, parts),
        ]);
        expect(decoded(coding, joined).equals(Buffer.concat(parts))).toBe(true);
      },
    ),
  );
}
