import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { segmentCoder } from "../../../src/ingest/segment-coders.ts";
import { checksum, expectSegmentsJoin } from "../../builders/segments.ts";

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
    const segments = (whole: Parameters<typeof coder.close>[2]) =>
      Buffer.concat([
        coder.open(new Uint8Array()),
        coder.middle(part, 0, "best"),
        coder.middle(part, part.length, "best"),
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
