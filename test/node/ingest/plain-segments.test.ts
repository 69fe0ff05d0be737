import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, it } from "vitest";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../../src/catalog/framing.ts";
import { type Representation, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import { commonSegment, headLength, surround } from "../../../src/ingest/surroundings.ts";

/** The common part is never empty, since its lists are not. */
const anyCommon = fc.uint8Array({ minLength: 8, maxLength: 40 });
const anyLocal = fc.uint8Array({ maxLength: 40 });

function segmentsOf(representation: Representation, part: Uint8Array, local: Uint8Array) {
  const common = commonSegment(representation, part);
  return { ...surround(representation, part, local), common };
}

it("the segments of grpc-web-text join to base64 of the grpc-web body, padded at its end only", () => {
  fc.assert(
    fc.property(anyCommon, anyLocal, (part, rest) => {
      const { head, common, local, tail } = segmentsOf("grpc-web-text", part, rest);
      const header = messageFrameHeader(part.length + rest.length);
      const body = Buffer.concat([header, part, rest, SUCCESS_TRAILER_FRAME]);
      expect(Buffer.concat([head, common, local, tail]).toString()).toBe(body.toString("base64"));
    }),
  );
});

it.each(REPRESENTATIONS)(
  "the segments of %s share the common one in all locales, and have a short head of the same length",
  (representation) => {
    fc.assert(
      fc.property(anyCommon, anyLocal, anyLocal, (part, one, other) => {
        const a = segmentsOf(representation, part, one);
        const b = segmentsOf(representation, part, other);
        expect(a.common).toEqual(b.common);
        for (const { head, tail } of [a, b]) {
          expect(head.length).toBe(headLength(representation));
          expect(head.length).toBeLessThanOrEqual(8);
          expect(tail.length).toBeLessThanOrEqual(32);
        }
      }),
    );
  },
);
