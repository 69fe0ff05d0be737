import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHead } from "../../../src/rpc/request-head.ts";
import { decisionKey, DecisionMemo } from "../../../src/rpc/decision-memo.ts";

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly headers?: Record<string, string>;
}

const GET = {
  method: "GET",
  url: "http://localhost/locations.v1.LocationsService/GetLocationsV1?encoding=json",
  contentType: "",
  body: new Uint8Array(),
};
const POST = {
  ...GET,
  method: "POST",
  contentType: "application/proto",
  body: new Uint8Array([10, 2, 101, 110]),
};
const GRPC_WEB = { ...POST, contentType: "application/grpc-web+proto" };

function keyOf({ method, url, contentType, body, headers = {} }: Asked): string | undefined {
  const request = new Request(url, {
    method,
    headers: { "content-type": contentType, ...headers },
  });
  return decisionKey(readHead(request), body);
}

describe("decisionKey", () => {
  it("tells apart what the router tells apart", () => {
    const asked = fc.record({
      method: fc.constantFrom("GET", "POST", "PUT"),
      url: fc.constantFrom("http://localhost/a", "http://localhost/a?b", "http://localhost/b"),
      contentType: fc.constantFrom(
        "application/json",
        "application/json; charset=utf-8",
        "application/proto",
      ),
      body: fc.uint8Array({ maxLength: 3 }),
    });
    fc.assert(
      fc.property(asked, asked, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it("is the same for HEAD as for GET", () => {
    expect(keyOf({ ...GET, method: "HEAD" })).toBe(keyOf(GET));
  });

  it.each<[string, Asked]>([
    ["a deadline on GET", { ...GET, headers: { "connect-timeout-ms": "50" } }],
    ["a deadline on POST", { ...POST, headers: { "connect-timeout-ms": "50" } }],
    ["a deadline in gRPC-Web", { ...GRPC_WEB, headers: { "grpc-timeout": "50m" } }],
    ["a coded body", { ...POST, headers: { "content-encoding": "gzip" } }],
    ["a coded message", { ...GRPC_WEB, headers: { "grpc-encoding": "gzip" } }],
    ["a long body", { ...POST, body: new Uint8Array(65) }],
    ["a long URL", { ...GET, url: `${GET.url}&x=${"x".repeat(512)}` }],
  ])("leaves a request with %s to the router", (_, asked) => {
    expect(keyOf(asked)).toBeUndefined();
  });

  it("does not mind headers that the protocol does not look at", () => {
    expect(keyOf({ ...GET, headers: { "grpc-timeout": "1m", "content-encoding": "x" } })).toBe(
      keyOf(GET),
    );
    expect(keyOf({ ...POST, headers: { "grpc-timeout": "1m" } })).toBe(keyOf(POST));
    expect(keyOf({ ...GRPC_WEB, headers: { "connect-timeout-ms": "1" } })).toBe(keyOf(GRPC_WEB));
  });
});

describe("DecisionMemo", () => {
  it("remembers, and stays small", () => {
    const memo = new DecisionMemo();
    const decision = { representation: "proto", tag: "de", chosen: new WeakMap() } as const;
    for (let i = 0; i < 5000; i++) memo.set(`key ${i}`, decision);
    expect(memo.get("key 4999")).toBe(decision);
    expect(memo.get("key 0")).toBeUndefined();
    expect(memo.size).toBeLessThanOrEqual(1024);
  });
});
