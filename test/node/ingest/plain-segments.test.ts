import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EncodedPart } from "../../../src/catalog/encode.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../../src/catalog/framing.ts";
import { plainSegments } from "../../../src/ingest/plain-segments.ts";

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

function joined(
  representation: Parameters<typeof plainSegments>[0],
  common: EncodedPart,
  local: EncodedPart,
) {
  const segments = plainSegments(representation, common, local);
  return Buffer.concat([segments.head, segments.common, segments.local, segments.tail]);
}

function framed(common: EncodedPart, local: EncodedPart): Buffer {
  const header = messageFrameHeader(common.proto.length + local.proto.length);
  return Buffer.concat([header, common.proto, local.proto, SUCCESS_TRAILER_FRAME]);
}

describe("the segments of a body", () => {
  it("are, joined, the message itself in proto and json", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        expect(joined("proto", common, local)).toEqual(Buffer.concat([common.proto, local.proto]));
        expect(joined("json", common, local)).toEqual(Buffer.concat([common.json, local.json]));
      }),
    );
  });

  it("are, joined, one message frame and one trailer frame in grpc-web", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        expect(joined("grpc-web", common, local)).toEqual(framed(common, local));
      }),
    );
  });

  it("are, joined, base64 of the grpc-web body in grpc-web-text, padded at its end only", () => {
    fc.assert(
      fc.property(anyCommon, anyLocal, (common, local) => {
        expect(joined("grpc-web-text", common, local).toString()).toBe(
          framed(common, local).toString("base64"),
        );
      }),
    );
  });

  it("are each base64 of whole groups, at every length of the parts", () => {
    for (let length = 2; length < 9; length++)
      for (let rest = 0; rest < 4; rest++) {
        const common = { proto: new Uint8Array(length).fill(1), json: new Uint8Array() };
        const local = { proto: new Uint8Array(rest).fill(2), json: new Uint8Array() };
        const segments = plainSegments("grpc-web-text", common, local);
        for (const bytes of [segments.head, segments.common, segments.local])
          expect(Buffer.from(bytes).toString()).toMatch(/^([A-Za-z0-9+/]{4})*$/);
      }
  });

  it.each(["proto", "json", "grpc-web", "grpc-web-text"] as const)(
    "have in %s a common one that does not depend on the locale, nor a head of more than few bytes",
    (representation) => {
      fc.assert(
        fc.property(anyCommon, anyLocal, anyLocal, (common, one, other) => {
          const a = plainSegments(representation, common, one);
          const b = plainSegments(representation, common, other);
          expect(a.common).toEqual(b.common);
          expect(a.head.length).toBe(b.head.length);
          expect(a.head.length).toBeLessThanOrEqual(8);
          expect(a.tail.length).toBeLessThanOrEqual(32);
        }),
      );
    },
  );
});
