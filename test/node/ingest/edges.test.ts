/** What is around the segments of a body is proved, too: zlib is made to lose it. */
import zlib from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import { encodeLocal } from "../../../src/catalog/encode.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { encodeCommon } from "../../builders/encode-common.ts";

const catalog = aCatalog();

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

it.each([
  ["proto", "the end of a stream", 0],
  // Its segment is that of protobuf, which is proved by then: only the frame is new.
  ["grpc-web", "the trailers", 1],
])("refuses a body of %s for which gzip loses %s", async (representation, _, from) => {
  const deflate = zlib.deflateRawSync;
  vi.spyOn(zlib, "deflateRawSync").mockImplementation((bytes, options) => {
    const isEnd = options?.finishFlush === zlib.constants.Z_FINISH;
    const isLost = isEnd && Buffer.byteLength(bytes) >= from;
    return isLost ? Buffer.alloc(0) : deflate(bytes, options);
  });
  vi.resetModules();
  const { encodeAll, MemoryCommon } = await import("../../builders/memory-common.ts");
  const made = encodeAll(
    encodeLocal(catalog.regions, new Map()),
    new MemoryCommon(encodeCommon(catalog)),
  );
  await expect(made).rejects.toThrow(`${representation} in gzip does not decode to its input`);
});
