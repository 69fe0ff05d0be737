import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Coding, Representation } from "../../../src/catalog/manifest.ts";
import { FakeCatalogReader } from "../../builders/fake-catalog-reader.ts";
import { aGet, aHandler, aPost, bytesOf } from "./requests.ts";

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, identity: Buffer.from } as const;

/** Decodes a body as a client does, once. */
function decode(coding: Coding, body: Uint8Array): Uint8Array {
  return new Uint8Array(DECODERS[coding](body));
}

const REQUESTS: readonly [Representation, (headers: Record<string, string>) => Request][] = [
  ["proto", (headers) => aPost("application/proto", { headers })],
  ["json", (headers) => aPost("application/json", { headers })],
  ["grpc-web", (headers) => aPost("application/grpc-web+proto", { headers })],
  ["grpc-web-text", (headers) => aPost("application/grpc-web-text", { headers })],
  ["proto", (headers) => aGet({ headers })],
  ["json", (headers) => aGet({ headers, encoding: "json" })],
];

const ACCEPTED: readonly [string | null, Coding][] = [
  [null, "identity"],
  ["identity", "identity"],
  ["deflate", "identity"],
  ["zstd", "identity"],
  ["br;q=0, gzip;q=0", "identity"],
  ["gzip", "gzip"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["*", "br"],
];

describe("content coding", () => {
  it.each(ACCEPTED)("of a client that accepts %j is %s", async (accepted, coding) => {
    const { handler, reader } = aHandler();
    const headers: Record<string, string> =
      accepted === null ? {} : { "accept-encoding": accepted };
    for (const [representation, build] of REQUESTS) {
      const response = await handler(build(headers));
      const body = await bytesOf(response);
      expect(response.headers.get("content-encoding") ?? "identity").toBe(coding);
      expect(response.headers.get("vary")).toMatch(/^Accept-Encoding(?:, Available-Dictionary)?$/);
      expect(body).toEqual(reader.bytes("en", representation, coding));
      expect(decode(coding, body)).toEqual(reader.bytes("en", representation, "identity"));
    }
  });

  it("falls back where a coding is not published", async () => {
    const { handler } = aHandler({ fake: new FakeCatalogReader({ codings: ["gzip"] }) });
    const coding = async (accepted: string): Promise<string | null> => {
      const response = await handler(aGet({ headers: { "accept-encoding": accepted } }));
      expect(response.status).toBe(200);
      return response.headers.get("content-encoding");
    };
    expect(await coding("br, gzip")).toBe("gzip");
    expect(await coding("br")).toBeNull();
  });

  it("of an error is none", async () => {
    const { handler, reader } = aHandler();
    reader.openResult = { ok: false, reason: "data_loss" };
    for (const [, build] of REQUESTS) {
      const response = await handler(build({ "accept-encoding": "br, gzip" }));
      expect(response.headers.get("content-encoding")).toBeNull();
    }
  });
});
