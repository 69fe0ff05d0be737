import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CODINGS } from "../../../src/parts/manifest.ts";
import { readHead, type RequestHead } from "../../../src/rpc/request.ts";
import { acceptedCodings, parseAcceptEncoding } from "../../../src/rpc/content-coding.ts";

describe("parseAcceptEncoding", () => {
  it.each([
    ["", "identity"],
    ["identity", "identity"],
    ["deflate", "identity"],
    ["zstd", "identity"],
    ["br;q=0, gzip;q=0", "identity"],
    ["*;q=0", "identity"],
    ["gzip", "gzip identity"],
    ["gzip;q=1.0, br;q=0.5", "gzip br identity"],
    ["GZIP ; Q=0.5 , BR", "br gzip identity"],
    ["gzip;q=0.001", "gzip identity"],
    ["br", "br identity"],
    ["gzip, deflate, br, zstd", "br gzip identity"],
    ["*", "br gzip identity"],
    ["br;q=0, *", "gzip identity"],
    ["*;q=0.5, gzip", "gzip br identity"],
    ["identity, gzip;q=0.5", "identity gzip"],
    ["identity;q=0.5, gzip;q=0.5", "gzip identity"],
    ["identity;q=0, gzip", "gzip identity"],
    ["identity;q=0", "identity"],
    ["br;q=2", "identity"],
    ["br;q=", "identity"],
    ["br;q=-1, gzip;q=x", "identity"],
    ["br;level=4;q=0.9", "br identity"],
    [",, ;q=1, gzip", "gzip identity"],
    ["gzip, br, zstd, dcb, dcz", "br gzip identity"],
  ])("reads %j as %s", (value, codings) => {
    expect(parseAcceptEncoding(value).join(" ")).toBe(codings);
  });

  it("returns each coding at most once and always identity", () => {
    const element = fc
      .tuple(
        fc.constantFrom("br", "zstd", "gzip", "identity", "*", "x"),
        fc.constantFrom("", ";q=0", ";q=0.3", ";q=1"),
      )
      .map((parts) => parts.join(""));
    const value = fc.oneof(
      fc.string(),
      fc.array(element).map((elements) => elements.join(",")),
    );
    fc.assert(
      fc.property(value, (accepted) => {
        const codings = parseAcceptEncoding(accepted);
        expect(codings).toContain("identity");
        expect(new Set(codings).size).toBe(codings.length);
        expect(CODINGS).toEqual(expect.arrayContaining([...codings]));
      }),
    );
  });
});

describe("acceptedCodings", () => {
  const request = (headers: HeadersInit, cf?: Record<string, unknown>): RequestHead =>
    readHead(
      Object.defineProperty(new Request("http://localhost/", { headers }), "cf", { value: cf }),
    );

  it("uses the edge's record of what the client sent, not the header that the edge rewrites", () => {
    const rewritten = { "accept-encoding": "br, gzip" };
    expect(acceptedCodings(request(rewritten, { clientAcceptEncoding: "gzip" }))).toEqual([
      "gzip",
      "identity",
    ]);
    expect(acceptedCodings(request(rewritten, { clientAcceptEncoding: "" }))).toEqual(["identity"]);
    expect(acceptedCodings(request(rewritten, { colo: "ZRH" }))).toEqual(["identity"]);
  });

  it("uses the header if there is no edge", () => {
    expect(acceptedCodings(request({ "accept-encoding": "gzip" }))).toEqual(["gzip", "identity"]);
    expect(acceptedCodings(request({}))).toEqual(["identity"]);
  });
});
