import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64Frames } from "../../../src/rpc/request-body.ts";

async function* chunksOf(text: string, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < text.length; start += length) {
    yield Buffer.from(text.slice(start, start + length), "latin1");
  }
}

async function decode(text: string, chunkLength = 1024): Promise<Buffer> {
  const decoded: Uint8Array[] = [];
  for await (const bytes of decodeBase64Frames(chunksOf(text, chunkLength))) decoded.push(bytes);
  return Buffer.concat(decoded);
}

describe("decodeBase64Frames", () => {
  it("decodes frames with padding of their own, wherever the text is cut", async () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(frames, fc.integer({ min: 1, max: 9 }), async (parts, chunkLength) => {
        const text = parts.map((part) => Buffer.from(part).toString("base64")).join("");
        expect(await decode(text, chunkLength)).toEqual(Buffer.concat(parts));
      }),
    );
  });

  it("decodes a last frame without padding", async () => {
    expect(await decode("AAAAAAQKAmVu")).toEqual(Buffer.from("00000000040a02656e", "hex"));
    expect(await decode("QQ")).toEqual(Buffer.from("A"));
    expect(await decode("QUI")).toEqual(Buffer.from("AB"));
  });

  it.each([
    "A",
    "AAAAA",
    "=",
    "====",
    "A===",
    "AA=A",
    "A=AA",
    "AA A",
    "AAA\n",
    "AA-_",
    "Zürich=",
    "AAAA=AAA",
  ])("refuses %j as the caller's mistake", async (text) => {
    const failure: unknown = await decode(text).catch((error: unknown) => error);
    expect(ConnectError.from(failure).code).toBe(Code.InvalidArgument);
  });
});
