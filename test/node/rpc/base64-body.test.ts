import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBase64Frames } from "../../../src/rpc/base64-body.ts";

const decode = (text: string) => decodeBase64Frames(Buffer.from(text, "latin1"));

describe("decodeBase64Frames", () => {
  it("decodes frames with padding of their own", () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 });
    fc.assert(
      fc.property(frames, (parts) => {
        const text = parts.map((part) => Buffer.from(part).toString("base64")).join("");
        expect(decode(text)).toEqual(Buffer.concat(parts));
      }),
    );
  });

  it("decodes a last frame without padding", () => {
    expect(decode("AAAAAAQKAmVu")).toEqual(Buffer.from("00000000040a02656e", "hex"));
    expect(decode("QQ")).toEqual(Buffer.from("A"));
    expect(decode("QUI")).toEqual(Buffer.from("AB"));
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
  ])("refuses %j as the caller's mistake", (text) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ code: Code.InvalidArgument }));
  });
});
