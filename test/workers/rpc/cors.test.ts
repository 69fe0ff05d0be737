import { describe, expect, it } from "vitest";
import { isRpcRequest, readHead } from "../../../src/rpc/request.ts";
import { aGet, aHandler, aPost, PATH, URL_OF_METHOD } from "./requests.ts";

const namesIn = (value: string | null): string[] => (value ?? "").toLowerCase().split(", ");

describe("a preflight", () => {
  it("permits whatever headers a browser asks for, as its tracing does", async () => {
    const { handler } = aHandler();
    const asked = "authorization,connect-protocol-version,content-type,sentry-trace,traceparent";
    const headers = {
      origin: "https://example.com",
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
    };
    const response = await handler(new Request(URL_OF_METHOD, { method: "OPTIONS", headers }));
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-max-age")).toBe("7200");
    expect(namesIn(response.headers.get("access-control-allow-methods"))).toEqual([
      "get",
      "head",
      "post",
    ]);
    expect(response.headers.get("access-control-allow-headers")).toBe(asked);
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });

  it("needs an origin and a method; any other OPTIONS says what is allowed", async () => {
    const { handler } = aHandler();
    const response = await handler(new Request(URL_OF_METHOD, { method: "OPTIONS" }));
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(response.headers.get("accept-post")).toContain("application/grpc-web+json");
    expect(response.headers.has("access-control-allow-methods")).toBe(false);
  });
});

describe("a real answer", () => {
  const grpc = { "content-type": "application/grpc" };
  it.each([
    [200, () => aGet()],
    [200, () => aPost("application/json")],
    [200, () => aPost("application/grpc-web-text")],
    [304, () => aGet({ headers: { "if-none-match": "*" } })],
    [400, () => aGet({ locale: "--" })],
    [
      404,
      () => new Request("http://localhost/locations.v1.LocationsService/Nope", { method: "POST" }),
    ],
    [404, () => new Request("http://localhost/other.v1.Service/Nope", { method: "POST" })],
    [405, () => new Request(URL_OF_METHOD, { method: "PUT" })],
    [412, () => aGet({ headers: { "if-match": '"x"' } })],
    [415, () => new Request(URL_OF_METHOD, { method: "POST", headers: grpc, body: "x" })],
  ])("of status %i may be read by any origin", async (status, build) => {
    const { handler } = aHandler();
    const { headers, status: actual } = await handler(build());
    expect(actual).toBe(status);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(namesIn(headers.get("access-control-expose-headers"))).toEqual(
      expect.arrayContaining([
        "grpc-status",
        "grpc-message",
        "grpc-status-details-bin",
        "etag",
        "last-modified",
        "repr-digest",
        "cache-control",
        "vary",
        "content-language",
        "locale-fallback",
        "catalog-version",
        "catalog-sha256",
        "retry-after",
      ]),
    );
  });
});

describe("an unsupported media type", () => {
  it.each([
    "application/grpc",
    "application/grpc+proto",
    "text/plain",
    "application/grpc-web-text+json",
  ])("%s is told what is supported", async (contentType) => {
    const { handler } = aHandler();
    const headers = { "content-type": contentType };
    const response = await handler(
      new Request(URL_OF_METHOD, { method: "POST", headers, body: "AAAA" }),
    );
    expect(response.status).toBe(415);
    expect(namesIn(response.headers.get("accept-post"))).toEqual(
      expect.arrayContaining([
        "application/proto",
        "application/json",
        "application/grpc-web-text",
      ]),
    );
  });
});

describe("isRpcRequest", () => {
  const post = (url: string, contentType = "application/proto"): Request =>
    new Request(url, { method: "POST", headers: { "content-type": contentType }, body: "x" });

  it.each([
    [true, post(URL_OF_METHOD)],
    [true, aGet()],
    [true, post("https://example.com/locations.v1.LocationsService/Nope")],
    [true, post("https://example.com/anything", "application/grpc")],
    [true, post("https://example.com/", "Application/gRPC-Web+proto")],
    [false, post("https://example.com/")],
    [false, post(`https://example.com/${PATH}`)],
    [false, post(`https://example.com/x${PATH}`)],
    [false, post(`https://example.com/?${PATH}`)],
    [true, post("https://example.com/locations.v2.LocationsService/GetLocationsV2")],
    [false, post("https://example.com/admin/a.B/C", "application/grpc")],
    [false, post("https://example.com/favicon.ico")],
  ])("is %s", (expected, request) => {
    expect(isRpcRequest(readHead(request))).toBe(expected);
  });
});
