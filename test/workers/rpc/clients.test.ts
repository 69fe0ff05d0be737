import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { describe, expect, it } from "vitest";
import { LocationsService } from "../../../gen/locations/v1/locations_pb.ts";
import { aLocationsResponse } from "../../builders/fake-catalog-reader.ts";
import { aHandler, type Subject } from "./requests.ts";

type TransportOptions = Parameters<typeof createConnectTransport>[0];

const TRANSPORTS: readonly [string, (options: TransportOptions) => Transport][] = [
  ["Connect, JSON", createConnectTransport],
  ["Connect, binary", (options) => createConnectTransport({ ...options, useBinaryFormat: true })],
  ["Connect, GET", (options) => createConnectTransport({ ...options, useHttpGet: true })],
  [
    "Connect, binary GET",
    (options) => createConnectTransport({ ...options, useHttpGet: true, useBinaryFormat: true }),
  ],
  ["gRPC-Web", createGrpcWebTransport],
  ["gRPC-Web, JSON", (options) => createGrpcWebTransport({ ...options, useBinaryFormat: false })],
];

function aClient(
  { handler }: Subject,
  createTransport: (options: TransportOptions) => Transport,
): Client<typeof LocationsService> {
  return createClient(
    LocationsService,
    createTransport({
      baseUrl: "http://localhost",
      // Without the options that only a browser knows.
      fetch: async (url, { method = "GET", headers = {}, body = null, signal = null } = {}) =>
        handler(new Request(url, { method, headers, body, signal })),
    }),
  );
}

describe("connect-web's client", () => {
  it.each(TRANSPORTS)("reads the catalog over %s", async (_, createTransport) => {
    const client = aClient(aHandler(), createTransport);
    for (const locale of ["de", "de"]) {
      expect(await client.getLocationsV1({ locale })).toEqual(aLocationsResponse("de"));
    }
  });

  it.each(TRANSPORTS)("learns what is wrong over %s", async (_, createTransport) => {
    const client = aClient(aHandler(), createTransport);
    const failure: unknown = await client
      .getLocationsV1({ locale: "--" })
      .catch((error: unknown) => error);
    const error = ConnectError.from(failure);
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.details).toMatchObject([{ type: "google.rpc.BadRequest" }]);
  });

  it.each(TRANSPORTS)("learns when to retry over %s", async (_, createTransport) => {
    const subject = aHandler();
    subject.reader.currentResult = { ok: false, reason: "nothing_published" };
    const failure: unknown = await aClient(subject, createTransport)
      .getLocationsV1({})
      .catch((error: unknown) => error);
    const error = ConnectError.from(failure);
    expect(error.code).toBe(Code.Unavailable);
    expect(error.details).toMatchObject([{ type: "google.rpc.RetryInfo" }]);
    expect(error.metadata.get("retry-after")).toBe("30");
  });

  it.each(TRANSPORTS)("has its deadline kept over %s", async (_, createTransport) => {
    const subject = aHandler();
    subject.reader.openMs = 3_600_000;
    const failure: unknown = await aClient(subject, createTransport)
      .getLocationsV1({}, { timeoutMs: 50 })
      .catch((error: unknown) => error);
    expect(ConnectError.from(failure).code).toBe(Code.DeadlineExceeded);
  });
});
