import { cors } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { isRpcRequest, readHead } from "../../../src/rpc/request.ts";
import { aGet, aHandler, PATH, URL_OF_METHOD } from "./requests.ts";

const namesIn = (value: string | null): string[] => (value ?? "").toLowerCase().split(", ");

describe("a preflight", () => {
  it("permits every header that a browser asks for, such as those of tracing", async () => {
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

  it("needs an origin and a method; any other OPTIONS lists what is allowed", async () => {
    const { handler } = aHandler();
    const response = await handler(new Request(URL_OF_METHOD, { method: "OPTIONS" }));
    expect(response.status).toBe(204);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect(response.headers.get("accept-post")).toContain("application/grpc-web+json");
    expect(response.headers.has("access-control-allow-methods")).toBe(false);
  });
});

it("an answer exposes each header that Connect's clients read", async () => {
  const { headers } = await aHandler().handler(aGet());
  const exposed = namesIn(headers.get("access-control-expose-headers"));
  expect(exposed).toEqual(
    expect.arrayContaining(cors.exposedHeaders.map((name) => name.toLowerCase())),
  );
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
  ])("returns %s for case %#", (expected, request) => {
    expect(isRpcRequest(readHead(request))).toBe(expected);
  });
});
