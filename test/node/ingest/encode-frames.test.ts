import { Buffer } from "node:buffer";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { encodeFrames } from "../../../src/ingest/bodies.ts";

const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text));
const local = { proto: bytesOf("regions"), json: bytesOf('"regions":[]') };

describe("encodeFrames", () => {
  it("stores one frame for each form, which decodes to the part of the locale", async () => {
    const stored: string[] = [];
    const frames = await encodeFrames(local, {
      compress: async (bytes) => zstdCompressSync(bytes),
      store: async (blobs) => void stored.push(...blobs.map(({ sha256 }) => sha256)),
    });
    expect(Object.values(frames).map(({ blob }) => blob)).toEqual(stored);
    expect(new Set(stored).size).toBe(2);
  });

  it("refuses a frame that decodes to other bytes of the same length, and stores none", async () => {
    const stored: unknown[] = [];
    const made = encodeFrames(local, {
      compress: async (bytes) => zstdCompressSync(new Uint8Array(bytes.length)),
      store: async (blobs) => void stored.push(...blobs),
    });
    await expect(made).rejects.toThrow("does not decode to its input");
    expect(stored).toEqual([]);
  });
});
