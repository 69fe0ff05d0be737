import { createRequire } from "node:module";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { GrpcWebClientBase, MethodDescriptor, MethodType } from "grpc-web";
import { describe, expect, inject, it } from "vitest";
import {
  LocationsRequestSchema,
  type LocationsResponse,
  LocationsResponseSchema,
} from "../../gen/locations/v1/locations_pb.ts";
import { brokenRules } from "./catalog-rules.ts";

// The client is made for browsers, and Node has no XMLHttpRequest.
Object.assign(globalThis, createRequire(import.meta.url)("xmlhttprequest-ssl"));

const { url } = inject("service");
/** A busy machine keeps it, too. */
const DEADLINE_MS = 600_000;
const PATH = "/locations.v1.LocationsService/GetLocationsV1";

/** Messages are encoded and decoded around the client, which knows google-protobuf's only. */
const getLocationsV1 = new MethodDescriptor<Uint8Array, Uint8Array>(
  PATH,
  MethodType.UNARY,
  Uint8Array,
  Uint8Array,
  (request: Uint8Array) => request,
  (response: Uint8Array) => response,
);

describe.each([
  ["the default format, which is text", {}],
  ["text", { format: "text" }],
  ["binary", { format: "binary" }],
])("Google's gRPC-Web client in %s", (_name, options) => {
  const client = new GrpcWebClientBase(options);
  async function call(locale: string, metadata = {}): Promise<LocationsResponse> {
    const request = toBinary(LocationsRequestSchema, create(LocationsRequestSchema, { locale }));
    const response = await client.unaryCall(url + PATH, request, metadata, getLocationsV1);
    return fromBinary(LocationsResponseSchema, response);
  }

  it("gets the whole catalog within a deadline", async () => {
    const deadline = String(Date.now() + DEADLINE_MS);
    expect(brokenRules(await call("ja", { deadline }), "ja")).toEqual([]);
  });

  it("learns which field is malformed", async () => {
    await expect(call("not a tag")).rejects.toMatchObject({
      code: 3,
      message: expect.stringContaining('use a tag such as "de"'),
      metadata: { "grpc-status-details-bin": expect.any(String) },
    });
  });
});
