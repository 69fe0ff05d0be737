import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouterOptions,
  createConnectRouter,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import {
  encodeEnvelope,
  universalServerRequestFromFetch,
  universalServerResponseToFetch,
} from "@connectrpc/connect/protocol";
import {
  type LocationsRequest,
  LocationsResponseSchema,
  LocationsService,
} from "../../../gen/locations/v1/locations_pb.ts";
import { parseLocale } from "../../../src/catalog/locale.ts";
import { callFailure, internalError } from "../../../src/rpc/errors.ts";
import { lookUp } from "../../../src/rpc/look-up.ts";
import { TIMEOUT_MAX_MS } from "../../../src/rpc/request.ts";
import { READ_MAX_BYTES } from "../../../src/rpc/request-body.ts";
import { framesOf } from "../../builders/frames.ts";
import type { RecordingReader } from "../../builders/recording-reader.ts";
import { bytesOf, type Handler } from "./requests.ts";

/** The method as any server has it, which decodes what is stored to have it encoded again. */
function plainService(reader: RecordingReader): ServiceImpl<typeof LocationsService> {
  async function read({ locale }: LocationsRequest, { signal }: HandlerContext) {
    const parsed = parseLocale(locale);
    if (!parsed.ok) throw callFailure(parsed.reason);
    signal.throwIfAborted();
    const query = {
      representation: "proto",
      codings: ["identity"],
      conditions: null,
      pin: null,
    } as const;
    const source = { reader, defaultLocale: "en" };
    const result = await lookUp(source, { ...query, tag: parsed.tag, withBody: true });
    if (!result.ok) throw callFailure(result.reason);
    if (result.found.kind !== "body") throw new Error("no body");
    const bytes = await new Response(result.found.content.stream()).bytes();
    return fromBinary(LocationsResponseSchema, bytes);
  }
  return {
    getLocationsV1: (request, context) =>
      read(request, context).catch((cause: unknown) => {
        throw cause instanceof ConnectError ? cause : internalError(cause);
      }),
  };
}

const unchanged = async (bytes: Uint8Array) => new Uint8Array(bytes);

const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: READ_MAX_BYTES,
  maxTimeoutMs: TIMEOUT_MAX_MS,
  /** Every router takes this coding. It is listed so that the refusal of another coding names it. */
  acceptCompression: [{ name: "identity", compress: unchanged, decompress: unchanged }],
} as const satisfies ConnectRouterOptions;

/** Connect's router as any server has it. */
export function plainRouter(reader: RecordingReader): Handler {
  const router = createConnectRouter(ROUTER_OPTIONS).service(
    LocationsService,
    plainService(reader),
  );
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request) => {
    const handler = handlers.get(new URL(request.url).pathname);
    if (handler === undefined) return new Response(null, { status: 404 });
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  };
}

/** Headers that the handler adds to the router's on purpose. */
const ADDED = [
  "access-control-allow-origin",
  "access-control-expose-headers",
  "accept-post",
  "allow",
  "cache-control",
  "catalog-sha256",
  "catalog-version",
  "content-language",
  "etag",
  "repr-digest",
  "last-modified",
  "locale-fallback",
  "server-timing",
  "timing-allow-origin",
  "vary",
  "x-content-type-options",
];

/** What of an answer must be the router's: its bytes once decoded, and headers without ours. */
export async function essenceOf(response: Response) {
  const sent = await bytesOf(response);
  const headers = new Map(response.headers);
  for (const name of ADDED) headers.delete(name);
  const coding = headers.get("grpc-encoding");
  const body =
    coding === undefined
      ? decoded(headers.get("content-encoding"), sent)
      : withPlainMessage(coding, sent);
  const length = headers.get("content-length") ?? String(sent.byteLength);
  for (const name of ["content-encoding", "content-length", "grpc-encoding"]) headers.delete(name);
  return {
    status: response.status,
    headers,
    body: Buffer.from(body).toString("latin1"),
    announcesItsLength: length === String(sent.byteLength),
  };
}

/**
 * The answer of Connect's router as the service gives it: bytes that are no message are the client's
 * mistake, while the router calls them its own.
 */
export async function expectedEssence(response: Response): Promise<unknown> {
  const essence = await essenceOf(response);
  if (!/parse(?:%20| )binary/.test(essence.body)) return essence;
  const body = essence.body
    .replace('"code":"internal"', '"code":"invalid_argument"')
    .replace(`grpc-status: ${Code.Internal}`, `grpc-status: ${Code.InvalidArgument}`);
  const length = body.length - essence.body.length;
  const framed = essence.body.startsWith("\x80")
    ? body.slice(0, 4) + String.fromCharCode(body.charCodeAt(4) + length) + body.slice(5)
    : body;
  return { ...essence, status: essence.status === 500 ? 400 : essence.status, body: framed };
}

function withPlainMessage(coding: string, sent: Uint8Array): Uint8Array {
  const frames = framesOf(sent).map(({ flags, data }) =>
    flags === 1 ? encodeEnvelope(0, decoded(coding, data)) : encodeEnvelope(flags, data),
  );
  return Buffer.concat(frames);
}

function decoded(coding: string | undefined, sent: Uint8Array): Uint8Array {
  if (coding === "gzip") return gunzipSync(sent);
  return coding === "br" ? brotliDecompressSync(sent) : sent;
}
