import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { framesOf } from "../../builders/frames.ts";
import { aHandler, aPost, bytesOf } from "./requests.ts";

const decoders = { br: brotliDecompressSync, gzip: gunzipSync };

describe("a gRPC-Web client that accepts compressed messages", () => {
  it.each([
    ["gzip", "gzip", true],
    ["gzip,br", "br", true],
    ["identity, BR", "br", false],
    ["snappy,gzip", "gzip", false],
  ] as const)(
    "gets, for grpc-accept-encoding %s, a message in %s; in memory: %s",
    async (accepted, coding, holds) => {
      const { handler, reader } = aHandler();
      if (holds) await reader.hold();
      const headers = { "grpc-accept-encoding": accepted };
      for (const [type, form] of [
        ["application/grpc-web+proto", "proto"],
        ["application/grpc-web+json", "json"],
      ] as const) {
        const response = await handler(aPost(type, { headers }));
        expect(response.headers.get("content-type")).toBe(type);
        expect(response.headers.get("grpc-encoding")).toBe(coding);
        expect(response.headers.has("content-encoding")).toBe(false);
        expect(response.headers.has("repr-digest")).toBe(false);
        const [message, trailer, ...rest] = framesOf(await bytesOf(response));
        expect([message?.flags, trailer?.flags, rest]).toEqual([1, 0x80, []]);
        const decoded = decoders[coding](message?.data ?? new Uint8Array());
        expect(new Uint8Array(decoded)).toEqual(reader.bytes("en", form, "identity"));
      }
    },
  );

  it("gets the whole body compressed if it accepts that as well", async () => {
    const { handler } = aHandler();
    const headers = { "grpc-accept-encoding": "gzip,br", "accept-encoding": "gzip" };
    const response = await handler(aPost("application/grpc-web+proto", { headers }));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.has("grpc-encoding")).toBe(false);
  });

  it.each(["identity", "snappy", ""])(
    "gets a plain message if it accepts only %j",
    async (accepted) => {
      const { handler } = aHandler();
      const headers = { "grpc-accept-encoding": accepted };
      const response = await handler(aPost("application/grpc-web+proto", { headers }));
      expect(framesOf(await bytesOf(response))[0]?.flags).toBe(0);
    },
  );

  it.each(["br", "gzip"] as const)(
    "gets a message in %s in base64, whose body has no coding",
    async (coding) => {
      const { handler, reader } = aHandler();
      const headers = { "accept-encoding": coding, "grpc-accept-encoding": coding };
      const response = await handler(aPost("application/grpc-web-text", { headers }));
      expect(response.headers.get("grpc-encoding")).toBe(coding);
      expect(response.headers.has("content-encoding")).toBe(false);
      const binary = Buffer.from(await response.text(), "base64");
      const [message, trailer, ...rest] = framesOf(new Uint8Array(binary));
      expect([message?.flags, trailer?.flags, rest]).toEqual([1, 0x80, []]);
      const decoded = decoders[coding](message?.data ?? new Uint8Array());
      expect(new Uint8Array(decoded)).toEqual(reader.bytes("en", "proto", "identity"));
    },
  );

  it("gets a plain message in Connect, which has no frames", async () => {
    const { handler } = aHandler();
    const headers = { "grpc-accept-encoding": "gzip" };
    const response = await handler(aPost("application/proto", { headers }));
    expect(response.status).toBe(200);
    expect(response.headers.has("grpc-encoding")).toBe(false);
  });
});
