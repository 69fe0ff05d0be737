/** What caches that a browser's requests pass through see, when they ask again. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { CALL, send, sha256 } from "./http.ts";

const MESSAGE = encodeURIComponent(JSON.stringify({ locale: "de" }));
const ACCEPTED = [
  "gzip, deflate, br, zstd",
  "gzip, deflate, br",
  "gzip, deflate",
  "br",
  "identity",
  "*",
];
/** For these, Miniflare codes JSON again. */
const RECODED = ["gzip, deflate, br, zstd", "gzip, deflate, br", "*"];
const DECODE: { readonly [coding: string]: (bytes: Buffer) => Buffer } = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
};

describe.each(["proto", "json"])("the answer to a GET in %s", (encoding) => {
  const path = `${CALL}?connect=v1&encoding=${encoding}&message=${encoding === "json" ? MESSAGE : "CgJkZQ&base64=1"}`;
  const ask = (headers: { readonly [name: string]: string }) =>
    send({ method: "GET", path, headers });

  it.each(ACCEPTED)(
    "can be decoded with the headers of its 304: Accept-Encoding %s",
    async (accepted) => {
      const plain = await ask({});
      const first = await ask({ "accept-encoding": accepted });
      const again = await ask({
        "accept-encoding": accepted,
        "if-none-match": first.headers.etag ?? "",
      });
      expect(again.status).toBe(304);
      expect(again.body.byteLength).toBe(0);
      const { "content-encoding": coding = "identity" } = { ...first.headers, ...again.headers };
      expect(DECODE[coding]?.(first.body).equals(plain.body)).toBe(true);
      const digest = `sha-256=:${Buffer.from(sha256(first.body), "hex").toString("base64")}:`;
      const isAsStored = encoding === "proto" || !RECODED.includes(accepted);
      expect(first.headers["repr-digest"] === digest).toBe(isAsStored);
      for (const name of ["content-type", "content-encoding", "etag", "vary", "catalog-sha256"])
        expect(again.headers[name], name).toBe(first.headers[name]);
    },
  );
});
