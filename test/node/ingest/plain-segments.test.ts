import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EncodedPart } from "../../../src/catalog/encode.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../../src/catalog/framing.ts";
import { type Representation, REPRESENTATIONS } from "../../../src/catalog/manifest.ts";
import { commonSegment, formOf, headLength, surround } from "../../../src/ingest/plain-segments.ts";

/** Bytes of the two parts; the common part is never empty, since its lists are not. */
const anyPart = (minLength: number): fc.Arbitrary<EncodedPart> =>
  fc.record({
    proto: fc.uint8Array({ minLength, maxLength: 40 }).map(own),
    json: fc.uint8Array({ minLength, maxLength: 40 }).map(own),
  });
const anyCommon = anyPart(8);
const anyLocal = anyPart(0);

function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}

interface Parts {
  readonly common: EncodedPart;
  readonly local: EncodedPart;
}

/** All segments of a body. */
function segmentsOf(representation: Representation, { common, local }: Parts) {
  const form = formOf(representation);
  const segment = commonSegment(representation, common[form]);
  return { ...surround(representation, common[form], local[form]), common: segment };
}

function joined(representation: Representation, parts: Parts): Buffer {
  const { head, common, local, tail } = segmentsOf(representation, parts);
  return Buffer.concat([head, common, local, tail]);
}

function framed(common: EncodedPart, local: EncodedPart): Buffer {
  const header = messageFrameHeader(common.proto.length + local.proto.length);
  return Buffer.concat([header, common.proto, local.proto, SUCCESS_TRAILER_FRAME]);
}

describe("the segments of a body", () => {
  it("are, joined, the message itself in proto and json", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        const message = Buffer.concat([common.proto, local.proto]);
        expect(joined("proto", { common, local })).toEqual(message);
        const json = Buffer.concat([common.json, local.json]);
        expect(joined("json", { common, local })).toEqual(json);
      }),
    );
  });

  it("are, joined, one message frame and one trailer frame in grpc-web", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        expect(joined("grpc-web", { common, local })).toEqual(framed(common, local));
      }),
    );
  });

  it("are, joined, base64 of the grpc-web body in grpc-web-text, padded at its end only", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        const whole = joined("grpc-web-text", { common, local });
        expect(whole.toString()).toBe(framed(common, local).toString("base64"));
      }),
    );
  });

  it("are each base64 of whole groups, at every length of the parts", () => {
    for (let length = 2; length < 9; length++)
      for (let rest = 0; rest < 4; rest++) {
        const common = { proto: new Uint8Array(length).fill(1), json: new Uint8Array() };
        const local = { proto: new Uint8Array(rest).fill(2), json: new Uint8Array() };
        const segments = segmentsOf("grpc-web-text", { common, local });
        for (const bytes of [segments.head, segments.common, segments.local])
          expect(Buffer.from(bytes).toString()).toMatch(/^([A-Za-z0-9+/]{4})*$/);
      }
  });

  it.each(REPRESENTATIONS)(
    "have in %s the same common one in all locales, and a short head of the same length",
    (representation) => {
      fc.assert(
        fc.property(anyCommon, anyLocal, anyLocal, (common, one, other) => {
          const a = segmentsOf(representation, { common, local: one });
          const b = segmentsOf(representation, { common, local: other });
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
});
