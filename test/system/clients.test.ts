import {
  Code,
  type ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import * as node from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { describe, expect, inject, it } from "vitest";
import { LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { brokenRules } from "./catalog-rules.ts";

const { url: baseUrl } = inject("service");

/** A busy machine keeps it, too. */
const DEADLINE_MS = 600_000;

type Options = { readonly interceptors: Interceptor[] };
const connectWeb = (more: object) => (options: Options) =>
  web.createConnectTransport({ baseUrl, ...options, ...more });
const grpcWeb = (more: object) => (options: Options) =>
  web.createGrpcWebTransport({ baseUrl, ...options, ...more });
const GET = { useHttpGet: true };
const BINARY = { useBinaryFormat: true };
const JSON_FORMAT = { useBinaryFormat: false };
const HTTP = { baseUrl, httpVersion: "1.1" } as const;
const connectNode = (options: Options) => node.createConnectTransport({ ...HTTP, ...options });
const grpcNode = (options: Options) => node.createGrpcWebTransport({ ...HTTP, ...options });

const WIRES: readonly (readonly [string, (options: Options) => Transport, type: string])[] = [
  ["connect-web, Connect JSON", connectWeb({}), "application/json"],
  ["connect-web, Connect binary", connectWeb(BINARY), "application/proto"],
  ["connect-web, Connect JSON GET", connectWeb(GET), "application/json"],
  ["connect-web, Connect binary GET", connectWeb({ ...GET, ...BINARY }), "application/proto"],
  ["connect-web, gRPC-Web", grpcWeb({}), "application/grpc-web+proto"],
  ["connect-web, gRPC-Web JSON", grpcWeb(JSON_FORMAT), "application/grpc-web+json"],
  ["connect-node, Connect", connectNode, "application/proto"],
  ["connect-node, gRPC-Web", grpcNode, "application/grpc-web+proto"],
];

describe.each(WIRES)("%s", (name, transport, contentType) => {
  let header = new Headers();
  const record: Interceptor = (next) => async (request) => {
    const response = await next(request);
    ({ header } = response);
    return response;
  };
  const client = createClient(LocationsService, transport({ interceptors: [record] }));

  it("gets the whole catalog within a deadline", async () => {
    const response = await client.getLocationsV1({ locale: "ar" }, { timeoutMs: DEADLINE_MS });
    expect(brokenRules(response, "ar")).toEqual([]);
    expect(header.get("content-type")).toBe(contentType);
    // The answer to a GET may be cached, the answer to a POST may not.
    const cacheControl = name.endsWith("GET") ? /^public, max-age=300,/ : /^no-store$/;
    expect(header.get("cache-control")).toMatch(cacheControl);
    expect(header.get("content-language")).toBe("ar");
    expect(header.get("locale-fallback")).toBeNull();
  });

  it("learns that a method or a service does not exist", async () => {
    const wire = transport({ interceptors: [] });
    const known = LocationsService.method.getLocationsV1;
    const unknown = { ...known, name: "GetLocationsV2" };
    const elsewhere = { ...known, parent: { ...LocationsService, typeName: "other.v1.Other" } };
    for (const method of [unknown, elsewhere])
      await expect(wire.unary(method, undefined, undefined, undefined, {})).rejects.toMatchObject({
        code: Code.Unimplemented,
      });
  });

  it("learns which field is malformed", async () => {
    const call = client.getLocationsV1({ locale: "not a tag" });
    await expect(call).rejects.toMatchObject({
      name: "ConnectError",
      code: 3,
      rawMessage: expect.stringContaining('use a tag such as "de"'),
      details: [{ type: "google.rpc.BadRequest" }],
    } satisfies Record<
      keyof Pick<ConnectError, "name" | "code" | "rawMessage" | "details">,
      unknown
    >);
  });
});
