import { Buffer } from "node:buffer";
import type { JsonObject } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  codeToString,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import {
  setTrailerStatus,
  trailerFlag,
  trailerSerialize,
} from "@connectrpc/connect/protocol-grpc-web";
import { LOCALE_MAX_BYTES } from "../catalog/locale.ts";
import { type BareStatus, CallError } from "./look-up.ts";
import type { Measure } from "./metrics.ts";
import { isGrpcWebText, METHOD_PATH, type RequestHead } from "./request.ts";
import { ACCEPT_POST, ALLOW, allowAnyOrigin, MEDIA_TYPES } from "./response.ts";

/** Retry delay while stores are down: the length of a short outage. */
const RETRY_UNAVAILABLE_SECONDS = 5;
/** Retry delay before the first publication: an ingest takes about a minute. */
const RETRY_NOTHING_PUBLISHED_SECONDS = 30;

interface Failure {
  readonly head: RequestHead;
  /** A CallError, or a ConnectError if the request breaks the protocol; anything else is a bug. */
  readonly cause: unknown;
  readonly log: (message: string, cause: unknown) => void;
  readonly measure: Measure;
}

export function answerFailure({ head, cause, log, measure }: Failure): Response {
  const failure = failureOf(cause, log);
  const isRefused = typeof failure === "number" || failure === cause;
  measure({ outcome: isRefused ? "refused" : codeToString(failure.code) });
  return typeof failure === "number" ? bareResponse(head, failure) : errorResponse(head, failure);
}

/** Refuses a request whose If-Match or If-Unmodified-Since does not hold. */
export function refusePrecondition(head: RequestHead): Response {
  const message = "the catalog is not the one that If-Match or If-Unmodified-Since asks for";
  return errorResponse(head, new ConnectError(message, Code.FailedPrecondition), 412);
}

function failureOf(cause: unknown, log: Failure["log"]): ConnectError | BareStatus {
  if (cause instanceof ConnectError) return cause;
  if (cause instanceof CallError)
    return typeof cause.reason === "number" ? cause.reason : callFailure(cause.reason);
  log("GetLocationsV1 failed", cause);
  return internalError(cause);
}

/** Reports a bug without revealing its cause to the caller. */
export function internalError(cause: unknown): ConnectError {
  return new ConnectError("internal error", Code.Internal, undefined, undefined, cause);
}

export function callFailure(reason: Exclude<CallError["reason"], BareStatus>): ConnectError {
  switch (reason) {
    case "too_long":
      return malformedLocale(`is longer than ${LOCALE_MAX_BYTES} bytes`);
    case "malformed":
      return malformedLocale("is not a well-formed BCP 47 language tag");
    case "nothing_published":
      return unavailable("no catalog is available", RETRY_NOTHING_PUBLISHED_SECONDS);
    case "unavailable":
      return unavailable("the catalog cannot be read at the moment", RETRY_UNAVAILABLE_SECONDS);
    case "not_retained":
      return new ConnectError(
        "no retained version has this hash; omit v to get the current one",
        Code.NotFound,
      );
    case "data_loss":
      return new ConnectError("every copy of the catalog is damaged", Code.DataLoss);
    case "deadline_exceeded":
      return new ConnectError("the operation timed out", Code.DeadlineExceeded); // as Connect's router says
    default:
      return reason satisfies never;
  }
}

/** The message never repeats the caller's text. */
function malformedLocale(problem: string): ConnectError {
  const description = `locale ${problem}; use a tag such as "de" or "pt-BR", or leave it empty`;
  const violation = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("locale")
    .tag(2, WireType.LengthDelimited)
    .string(description);
  const error = new ConnectError(description, Code.InvalidArgument);
  const debug = { fieldViolations: [{ field: "locale", description }] };
  error.details.push(errorDetail("BadRequest", violation, debug));
  return error;
}

function unavailable(message: string, retrySeconds: number): ConnectError {
  const error = new ConnectError(message, Code.Unavailable, {
    "retry-after": String(retrySeconds),
  });
  const delay = new BinaryWriter().tag(1, WireType.Varint).int64(retrySeconds);
  error.details.push(errorDetail("RetryInfo", delay, { retryDelay: `${retrySeconds}s` }));
  return error;
}

/** Builds a message of google/rpc/error_details.proto that has only its first field, with its ProtoJSON. */
function errorDetail(name: string, field: BinaryWriter, debug: JsonObject) {
  const value = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(field.finish()).finish();
  return { type: `google.rpc.${name}`, value, debug };
}

function errorResponse(
  { method, contentType, isGrpcWeb }: RequestHead,
  error: ConnectError,
  status = codeToHttpStatus(error.code),
): Response {
  if (isGrpcWeb) return trailerResponse(contentType, error);
  const body = new Uint8Array(errorToJsonBytes(error, undefined));
  const headers = errorHeaders(error.metadata);
  headers.set("content-type", MEDIA_TYPES.json);
  headers.set("content-length", String(body.byteLength));
  return new Response(method === "HEAD" ? null : body, { status, headers });
}

function trailerResponse(contentType: string, error: ConnectError): Response {
  const sent = error.rawMessage.isWellFormed() ? error : UNQUOTABLE;
  const trailer = trailerSerialize(setTrailerStatus(new Headers(), sent));
  const frame = Buffer.from(encodeEnvelope(trailerFlag, trailer));
  const isText = isGrpcWebText(contentType);
  const form = /\+json/i.test(contentType) ? "grpc-web-json" : "grpc-web";
  const headers = errorHeaders();
  headers.set("content-type", MEDIA_TYPES[isText ? "grpc-web-text" : form]);
  return new Response(isText ? frame.toString("base64") : frame, { headers });
}

/** A lone surrogate, which a message may quote from the client's JSON, has no percent-encoding. */
const UNQUOTABLE = new ConnectError(
  "the message is not the JSON of a request",
  Code.InvalidArgument,
);

function bareResponse(
  { method, url, headers: requestHeaders }: RequestHead,
  status: BareStatus,
): Response {
  const headers = errorHeaders();
  if (status === 405) headers.set("allow", ALLOW);
  if (status === 415) headers.set("accept-post", ACCEPT_POST);
  const isShown = method === "GET" && requestHeaders.get("accept")?.includes("text/html") === true;
  if (!isShown) return new Response(null, { status, headers });
  headers.set("content-type", "text/plain; charset=utf-8");
  headers.set("x-content-type-options", "nosniff");
  return new Response(inWords(status, new URL(url).origin), { status, headers });
}

/** For a person who has opened the address of a call in a browser. */
function inWords(status: BareStatus, origin: string): string {
  const what = status === 404 ? "There is no such call." : "This is the address of a call.";
  return `${what} Programs POST {"locale":"de"} as application/json to
${origin}${METHOD_PATH}

or GET
${origin}${METHOD_PATH}?connect=v1&encoding=json&message=%7B%22locale%22%3A%22de%22%7D

More: ${origin}/docs
`;
}

function errorHeaders(metadata?: Headers): Headers {
  const headers = allowAnyOrigin(new Headers(metadata));
  headers.set("cache-control", "no-store");
  return headers;
}
