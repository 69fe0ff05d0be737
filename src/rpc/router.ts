import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import {
  Code,
  ConnectError,
  type ConnectRouterOptions,
  type ContextKey,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import {
  compressedFlag,
  encodeEnvelope,
  transformSplitEnvelope,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
  uResponseNotFound,
} from "@connectrpc/connect/protocol";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { LocationsRequestSchema, LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../catalog/bytes.ts";
import { parseLocale } from "../catalog/locale.ts";
import { withoutUtf8 } from "../platform/charset.ts";
import { decodeBase64Frames } from "./request-body.ts";
import {
  callFailure,
  errorAnswer,
  errorResponse,
  inWords,
  internalError,
  malformedLocale,
  preconditionFailed,
  type RouterAnswer,
} from "./errors.ts";
import { type Call, PIN_PARAMETER } from "./request.ts";
import { CallError } from "./look-up.ts";
import type { Measure } from "./metrics.ts";
import { isGrpcWebText, type RequestHead, TIMEOUT_MAX_MS } from "./request.ts";
import {
  brokenBody,
  READ_MAX_BYTES,
  readBody,
  type RequestBody,
  streamBody,
} from "./request-body.ts";
import { MEDIA_TYPES, storedRepresentation } from "./response.ts";

const unchanged = async (bytes: Uint8Array) => new Uint8Array(bytes);

/** Options of Connect's router. */
export const ROUTER_OPTIONS = {
  /** A Worker cannot send HTTP trailers, which gRPC needs. */
  grpc: false,
  readMaxBytes: READ_MAX_BYTES,
  maxTimeoutMs: TIMEOUT_MAX_MS,
  /** Every router takes this coding. It is listed so that the refusal of another coding names it. */
  acceptCompression: [{ name: "identity", compress: unchanged, decompress: unchanged }],
} as const satisfies ConnectRouterOptions;

/** A request for the router. */
export interface Routed {
  readonly request: Request;
  readonly head: RequestHead;
  /** The body, if it was read. */
  readonly read?: Uint8Array;
  /** Why the body could not be read. */
  readonly broken?: unknown;
  /** Why the call of the request cannot be answered: a CallError, or a bug. */
  readonly failure?: unknown;
}

/** Answers a request by Connect's router. */
export type Router = (routed: Routed) => Promise<Response>;

interface RouterDependencies {
  /** Answers a valid call from stored bytes, or throws CallError. */
  readonly answerCall: (head: RequestHead, call: Call, signal: AbortSignal) => Promise<Response>;
  readonly log: (message: string, cause: unknown) => void;
  readonly measure: Measure;
}

/** Answers a call that the router has parsed. The router encodes the errors that it throws. */
type AnswerParsed = (locale: string, context: HandlerContext) => Promise<void>;

const answerKey: ContextKey<AnswerParsed> = createContextKey<AnswerParsed>(() =>
  Promise.reject(new Error("no function answers the call")),
);

/**
 * Passes requests through Connect's router, which parses them, enforces deadlines and encodes
 * errors. The empty message that it encodes for a valid call is dropped: `answerCall` answers that.
 */
export function createRouter({ answerCall, log, measure }: RouterDependencies): Router {
  const router = createConnectRouter(ROUTER_OPTIONS).service(LocationsService, {
    async getLocationsV1({ locale }, context) {
      await context.values.get(answerKey)(locale, context);
      return {};
    },
  });
  const handlers = new Map<string, UniversalHandler>(
    router.handlers.map((handler) => [handler.requestPath, handler]),
  );

  function toConnectError(cause: unknown, signal: AbortSignal): ConnectError {
    if (cause instanceof ConnectError) return cause;
    if (cause instanceof CallError) return callFailure(cause.reason);
    // The deadline passed, which caused this failure.
    if (signal.aborted) return ConnectError.from(signal.reason);
    log("GetLocationsV1 failed", cause);
    return internalError(cause);
  }

  return async (routed) => {
    const { request, head, failure } = routed;
    let success: Response | undefined;
    let outcome = "refused";
    const answerParsed: AnswerParsed = async (locale, context) => {
      try {
        if (failure !== undefined) throw failure;
        success = await answerCall(head, callOf(locale, head, context), context.signal);
      } catch (cause) {
        const error = toConnectError(cause, context.signal);
        outcome = codeToString(error.code);
        throw error;
      }
    };
    const contextValues = createContextValues().set(answerKey, answerParsed);
    const handler = handlers.get(new URL(head.url).pathname) ?? NOT_FOUND;
    const body = bodyOf(routed);
    const read = { ...asRead(request, head, body), contextValues };
    const answer = await answerOf(handler, read, head);
    await body.discard();
    if (success !== undefined) return success;
    measure({ outcome });
    return errorResponse(head, inWords(answer, head));
  };
}

function bodyOf({ request, head, read, broken }: Routed): RequestBody {
  if (read !== undefined) return readBody(read);
  if (broken !== undefined) return brokenBody(broken);
  return streamBody(request, head);
}

/** Reads a call that the router has parsed. Throws ConnectError if the locale is malformed. */
function callOf(locale: string, head: RequestHead, { responseHeader }: HandlerContext): Call {
  const parsed = parseLocale(locale);
  if (!parsed.ok) throw malformedLocale(parsed.reason);
  return {
    tag: parsed.tag,
    representation: storedRepresentation(responseHeader.get("content-type"), head.contentType),
    pin: new URL(head.url).searchParams.get(PIN_PARAMETER),
  };
}

/** Refuses a request whose If-Match or If-Unmodified-Since does not hold. */
export function refusePrecondition(head: RequestHead): Response {
  const refusal = errorAnswer(preconditionFailed(), head.contentType);
  return errorResponse(head, { ...refusal, status: 412 });
}

/** Answers a request that a bug has interrupted, without its cause. */
export function answerInternalError(
  head: Pick<RequestHead, "method" | "contentType">,
  cause: unknown,
): Response {
  return errorResponse(head, errorAnswer(internalError(cause), head.contentType));
}

const NOT_FOUND = async () => uResponseNotFound;

async function answerOf(
  handler: (request: UniversalServerRequest) => Promise<UniversalServerResponse>,
  request: UniversalServerRequest,
  head: RequestHead,
): Promise<RouterAnswer> {
  try {
    const answer = await readAnswer(await handler(request));
    if (answer.status === 500) assertQuery(head);
    return answer;
  } catch (cause) {
    if (cause instanceof ConnectError) return errorAnswer(cause, head.contentType);
    if (!(cause instanceof URIError)) throw cause;
    return errorAnswer(UNQUOTABLE, MEDIA_TYPES["grpc-web"]);
  }
}

/**
 * Replaces an error that Connect cannot put into a trailer. Its message quotes a lone surrogate
 * from the client's JSON, which has no percent-encoding.
 */
const UNQUOTABLE = new ConnectError(
  "the message is not the JSON of a request",
  Code.InvalidArgument,
);

const JSON_WITH_PARAMETER = /^application\/(?:grpc-web\+)?json\s*;/i;

/** Converts a request for the router: HEAD to GET, base64 to binary gRPC-Web. */
function asRead(request: Request, head: RequestHead, body: RequestBody) {
  const header = new Headers(head.headers);
  // Stored bodies are already compressed, and the router is to name no coding of its own.
  header.delete("accept-encoding");
  header.delete("grpc-accept-encoding");
  // The router refuses a longer deadline.
  if (head.timeoutMs === TIMEOUT_MAX_MS) {
    if (head.isGrpcWeb) header.set("grpc-timeout", `${Math.floor(TIMEOUT_MAX_MS / 1000)}S`);
    else header.set("connect-timeout-ms", String(TIMEOUT_MAX_MS));
  }
  const isText = isGrpcWebText(head.contentType);
  if (isText) header.set("content-type", MEDIA_TYPES["grpc-web"]);
  // The router takes only two of the spellings of a charset.
  else if (JSON_WITH_PARAMETER.test(head.contentType))
    header.set("content-type", withoutUtf8(head.contentType));
  return {
    httpVersion: "",
    method: head.method === "HEAD" ? "GET" : head.method,
    url: head.url,
    header,
    body: checkedBody(head, isText ? decodeBase64Frames(body) : body),
    signal: request.signal,
  };
}

/** Rejects what the router would take, or report as a fault of its own. */
function checkedBody(
  { contentType, isGrpcWeb }: RequestHead,
  body: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (isGrpcWeb) return checkedFrames(body, !/\+json/i.test(contentType));
  return contentType.toLowerCase() === MEDIA_TYPES.proto ? checkedMessage(body) : body;
}

/** Rejects gRPC-Web frames with undefined flags, which the router would ignore. */
async function* checkedFrames(
  body: AsyncIterable<Uint8Array>,
  isProto: boolean,
): AsyncGenerator<Uint8Array> {
  const frames = transformSplitEnvelope(READ_MAX_BYTES)(body);
  for await (const { flags, data } of frames) {
    if ((flags & ~(compressedFlag | trailerFlag)) !== 0)
      throw new ConnectError(`protocol error: unknown frame flags ${flags}`, Code.InvalidArgument);
    if (flags === 0 && isProto) assertMessage(data);
    yield encodeEnvelope(flags, data);
  }
}

async function* checkedMessage(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > READ_MAX_BYTES) break; // the router refuses it
  }
  const message = concatenate(chunks);
  if (bytes <= READ_MAX_BYTES) assertMessage(message);
  yield message;
}

/** Reports bytes that are no message as the client's mistake: to the router it is its own. */
function assertMessage(bytes: Uint8Array): void {
  try {
    fromBinary(LocationsRequestSchema, bytes);
  } catch (cause) {
    const { rawMessage } = ConnectError.from(cause);
    throw new ConnectError(`parse binary: ${rawMessage}`, Code.InvalidArgument);
  }
}

/** Throws as `assertMessage` does, for the message of a GET. */
function assertQuery({ method, url }: RequestHead): void {
  if (method === "POST") return;
  const parameters = new URL(url).searchParams;
  const text = parameters.get("message") ?? "";
  const bytes =
    parameters.get("base64") === "1" ? decodeQuery(text) : new TextEncoder().encode(text);
  if (parameters.get("encoding") === "proto") assertMessage(bytes);
}

function decodeQuery(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch {
    throw new ConnectError("message is not base64", Code.InvalidArgument);
  }
}

async function readAnswer(answer: UniversalServerResponse): Promise<RouterAnswer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body ?? []) chunks.push(chunk);
  return {
    status: answer.status,
    headers: new Headers(answer.header),
    body: concatenate(chunks),
  };
}
