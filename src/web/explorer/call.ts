import { create } from "@bufbuild/protobuf";
import { type Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  LocationsRequestSchema,
  type LocationsResponse,
  LocationsService,
} from "../../../gen/locations/v1/locations_pb.ts";
import type { CallSettings } from "./permalink.ts";
import { type Exchange, recordFetch, type Transfer } from "./recorded-fetch.ts";

/** Deadline of a call. */
const CALL_TIMEOUT_MS = 30_000;

/** Facts about a call for people. */
export interface CallFacts {
  readonly settings: CallSettings;
  readonly exchange: Exchange | undefined;
  readonly transfer: Transfer | undefined;
  /** Time from the call to the decoded message. */
  readonly totalMs: number;
}

export type CallOutcome =
  | { readonly ok: true; readonly facts: CallFacts; readonly answer: LocationsResponse }
  | { readonly ok: false; readonly facts: CallFacts; readonly failure: CallFailure };

export interface CallFailure {
  readonly code: Code;
  /** Message of the service or the browser. */
  readonly message: string;
  /** From the header Retry-After. */
  readonly retryAfterSeconds: number | null;
  /** False if no answer came. */
  readonly answered: boolean;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** Bypasses a fresh answer in the browser's cache. */
  readonly revalidate: boolean;
}

/** Calls GetLocationsV1 on this page's service. */
export async function callService(
  settings: CallSettings,
  { signal, revalidate }: CallOptions,
): Promise<CallOutcome> {
  const recorded = recordFetch(revalidate ? { cache: "no-cache" } : {});
  const client = createClient(LocationsService, createTransport(settings, recorded.fetch));
  const startedAt = performance.now();
  const facts = async (): Promise<CallFacts> => {
    const totalMs = performance.now() - startedAt;
    const exchange = recorded.exchange();
    return { settings, exchange, totalMs, transfer: await recorded.transfer() };
  };
  try {
    const request = create(LocationsRequestSchema, { locale: settings.locale });
    const answer = await client.getLocationsV1(request, { signal, timeoutMs: CALL_TIMEOUT_MS });
    return { ok: true, answer, facts: await facts() };
  } catch (cause) {
    const error = ConnectError.from(cause);
    const retryAfter = Number(error.metadata.get("retry-after") ?? "");
    const failure = {
      code: error.code,
      message: error.rawMessage,
      retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
      answered: recorded.exchange() !== undefined,
    };
    return { ok: false, failure, facts: await facts() };
  }
}

function createTransport(
  { protocol, encoding }: CallSettings,
  fetch: typeof globalThis.fetch,
): Transport {
  const useBinaryFormat = encoding === "proto";
  const options = { baseUrl: window.location.origin, useBinaryFormat, fetch };
  switch (protocol) {
    case "connect":
      return createConnectTransport(options);
    case "connect-get":
      return createConnectTransport({ ...options, useHttpGet: true });
    case "grpc-web":
      return createGrpcWebTransport(options);
    default:
      return protocol satisfies never;
  }
}
