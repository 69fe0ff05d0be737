import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { brotliWhole, segmentCoder } from "../../../src/ingest/segment-coders.ts";
import { checksum, decoded, expectSegmentsJoin } from "../../builders/segments.ts";
import { streamOf } from "../../builders/source.ts";

describe("joined segments", () => {
  it("decode to the whole in identity, wherever it is cut", () => {
    expectSegmentsJoin("identity");
  });

  it("decode to the whole in gzip, wherever it is cut", () => {
    expectSegmentsJoin("gzip");
  });

  it("are one gzip member, whose checksum covers the whole", () => {
    const coder = segmentCoder("gzip");
    if (coder === undefined) throw new Error("gzip segments join everywhere");
    const part = new TextEncoder().encode("Zürich ".repeat(50));
    const effort = { brotliQuality: 9, gzipLevel: 9 };
    const segments = (whole: Parameters<typeof coder.close>[2]) =>
      Buffer.concat([
        coder.open(new Uint8Array()),
        coder.middle(part, 0, effort),
        coder.middle(part, part.length, effort),
        coder.close(new Uint8Array(), 2 * part.length, whole),
      ]);
    const right = checksum([part, part]);
    expect(gunzipSync(segments(right))).toEqual(Buffer.concat([part, part]));
    expect(() => gunzipSync(segments({ ...right, crc32: right.crc32 ^ 1 }))).toThrow();
    expect(() => gunzipSync(segments({ ...right, bytes: right.bytes - 1 }))).toThrow();
  });

  it("do not exist in brotli where the runtime's encoder takes no stream offset, as in Node", () => {
    expect(segmentCoder("br")).toBeUndefined();
  });
});

describe("brotliWhole", () => {
  it("is decoded to what was encoded, also when that is nothing", async () => {
    for (const text of ["", "Zürich ".repeat(1000)]) {
      const bytes = new TextEncoder().encode(text);
      const encoded = await brotliWhole(streamOf(bytes, 100), {
        brotliQuality: 9,
        length: bytes.length,
      });
      expect(decoded("br", encoded)).toEqual(Buffer.from(bytes));
    }
  });
});
