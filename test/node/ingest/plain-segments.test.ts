import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inChunks } from "../../../src/catalog/bytes.ts";
import type { EncodedPart } from "../../../src/catalog/encode.ts";
import { messageFrameHeader, SUCCESS_TRAILER_FRAME } from "../../../src/catalog/framing.ts";
import type { Representation } from "../../../src/catalog/manifest.ts";
import {
  commonLength,
  commonSegment,
  formOf,
  headLength,
  surround,
} from "../../../src/ingest/plain-segments.ts";

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

/** All segments of a body, for a common part that comes in pieces of a length. */
async function segmentsOf(
  representation: Representation,
  {
    common,
    local,
    pieceBytes = 5,
  }: { common: EncodedPart; local: EncodedPart; pieceBytes?: number },
) {
  const form = formOf(representation);
  const part = common[form];
  const ends = { bytes: part.length, first: part.subarray(0, 2), last: part.subarray(-2) };
  const pieces: Uint8Array[] = [];
  const cut = inChunks([part], pieceBytes);
  for await (const piece of commonSegment(representation, cut, part.length)) pieces.push(piece);
  return { ...surround(representation, ends, local[form]), common: Buffer.concat(pieces) };
}

async function joined(representation: Representation, common: EncodedPart, local: EncodedPart) {
  const segments = await segmentsOf(representation, { common, local });
  return Buffer.concat([segments.head, segments.common, segments.local, segments.tail]);
}

function framed(common: EncodedPart, local: EncodedPart): Buffer {
  const header = messageFrameHeader(common.proto.length + local.proto.length);
  return Buffer.concat([header, common.proto, local.proto, SUCCESS_TRAILER_FRAME]);
}

describe("the segments of a body", () => {
  it("are, joined, the message itself in proto and json", async () => {
    await fc.assert(
      fc.asyncProperty(anyCommon, anyLocal, async (common, local) => {
        const message = Buffer.concat([common.proto, local.proto]);
        expect(await joined("proto", common, local)).toEqual(message);
        const json = Buffer.concat([common.json, local.json]);
        expect(await joined("json", common, local)).toEqual(json);
      }),
    );
  });

  it("are, joined, one message frame and one trailer frame in grpc-web", async () => {
    await fc.assert(
      fc.asyncProperty(anyCommon, anyLocal, async (common, local) => {
        expect(await joined("grpc-web", common, local)).toEqual(framed(common, local));
      }),
    );
  });

  it("are, joined, base64 of the grpc-web body in grpc-web-text, padded at its end only", async () => {
    await fc.assert(
      fc.asyncProperty(anyCommon, anyLocal, async (common, local) => {
        const whole = await joined("grpc-web-text", common, local);
        expect(whole.toString()).toBe(framed(common, local).toString("base64"));
      }),
    );
  });

  it("are each base64 of whole groups, at every length of the parts and of their pieces", async () => {
    for (let length = 2; length < 9; length++)
      for (let rest = 0; rest < 4; rest++)
        for (let pieceBytes = 1; pieceBytes < 6; pieceBytes++) {
          const common = { proto: new Uint8Array(length).fill(1), json: new Uint8Array() };
          const local = { proto: new Uint8Array(rest).fill(2), json: new Uint8Array() };
          const segments = await segmentsOf("grpc-web-text", { common, local, pieceBytes });
          for (const bytes of [segments.head, segments.common, segments.local])
            expect(Buffer.from(bytes).toString()).toMatch(/^([A-Za-z0-9+/]{4})*$/);
        }
  });

  it.each(["proto", "json", "grpc-web", "grpc-web-text"] as const)(
    "have in %s a common one and a short head whose lengths are known before any locale",
    async (representation) => {
      await fc.assert(
        fc.asyncProperty(anyCommon, anyLocal, anyLocal, async (common, one, other) => {
          const a = await segmentsOf(representation, { common, local: one });
          const b = await segmentsOf(representation, { common, local: other });
          expect(a.common).toEqual(b.common);
          const part = common[formOf(representation)];
          expect(a.common.length).toBe(commonLength(representation, part.length));
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
