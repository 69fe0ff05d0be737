import { Buffer } from "node:buffer";
import { create, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import {
  setTrailerStatus,
  trailerFlag,
  trailerSerialize,
} from "@connectrpc/connect/protocol-grpc-web";
import { LOCALE_MAX_BYTES, type ParsedLocale } from "../catalog/locale.ts";
import type { CallError } from "./look-up.ts";
import { isGrpcWeb, isGrpcWebText, METHOD_PATH, type RequestHead } from "./request.ts";
import { ACCEPT_POST, ALLOW, allowAnyOrigin, MEDIA_TYPES } from "./response.ts";

/** Retry delay while stores are down: about the length of a hiccup. */
const RETRY_UNAVAILABLE_SECONDS = 5;
/** Retry delay before the first publication: an ingest takes about a minute. */
const RETRY_NOTHING_PUBLISHED_SECONDS = 30;

/** Reports a malformed locale. The message never repeats the caller's text. */
export function malformedLocale(
  reason: Extract<ParsedLocale, { ok: false }>["reason"],
): ConnectError {
  const problem =
    reason === "too_long"
      ? `is longer than ${LOCALE_MAX_BYTES} bytes`
      : "is not a well-formed BCP 47 language tag";
  const description = `locale ${problem}; use a tag such as "de" or "pt-BR", or leave it empty`;
  const error = new ConnectError(description, Code.InvalidArgument);
  error.details.push(badRequest("locale", description));
  return error;
}

/** Reports a call that cannot be answered. */
export function callFailure(reason: CallError["reason"]): ConnectError {
  switch (reason) {
    case "nothing_published":
      return unavailable("no catalog is available", RETRY_NOTHING_PUBLISHED_SECONDS);
    case "unavailable":
      return unavailable("the catalog cannot be read at the moment", RETRY_UNAVAILABLE_SECONDS);
    case "not_retained":
      return new ConnectError(
        "no retained version has this hash; leave out v to get the current one",
        Code.NotFound,
      );
    case "data_loss":
      return new ConnectError("every copy of the catalog is damaged", Code.DataLoss);
    case "deadline_exceeded":
      return new ConnectError("the operation timed out", Code.DeadlineExceeded); // as the router says
    default:
      return reason satisfies never;
  }
}

/** Refuses a request whose If-Match or If-Unmodified-Since does not hold. */
export function preconditionFailed(): ConnectError {
  const message = "the catalog is not the one that If-Match or If-Unmodified-Since asks for";
  return new ConnectError(message, Code.FailedPrecondition);
}

/** Reports a bug without revealing its cause to the caller. */
export function internalError(cause: unknown): ConnectError {
  return new ConnectError("internal error", Code.Internal, undefined, undefined, cause);
}

function unavailable(message: string, retrySeconds: number): ConnectError {
  const error = new ConnectError(message, Code.Unavailable, {
    "retry-after": String(retrySeconds),
  });
  error.details.push(retryInfo(retrySeconds));
  return error;
}

/** An encoded message of google/rpc/error_details.proto, with its ProtoJSON form for people. */
interface ErrorDetail {
  readonly type: string;
  readonly value: Uint8Array;
  readonly debug: JsonValue;
}

/** Builds a google.rpc.BadRequest with one violation. */
function badRequest(field: string, description: string): ErrorDetail {
  const violation = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(field)
    .tag(2, WireType.LengthDelimited)
    .string(description)
    .finish();
  return {
    type: "google.rpc.BadRequest",
    value: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(violation).finish(),
    debug: { fieldViolations: [{ field, description }] },
  };
}

/** Builds a google.rpc.RetryInfo, which says when a client may try again. */
function retryInfo(delaySeconds: number): ErrorDetail {
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(delaySeconds) }));
  return {
    type: "google.rpc.RetryInfo",
    value: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(delay).finish(),
    debug: { retryDelay: `${delaySeconds}s` },
  };
}

/** A complete error answer of Connect's router. */
export interface RouterAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Gives words to an error without a body, if a person has opened its address in a browser. */
export function inWords(answer: RouterAnswer, { method, url, headers }: RequestHead): RouterAnswer {
  const isShown = method === "GET" && headers.get("accept")?.includes("text/html") === true;
  if (!isShown || answer.body.byteLength > 0) return answer;
  const { origin } = new URL(url);
  const what = answer.status === 404 ? "There is no such call." : "This is the address of a call.";
  const text = `${what} Programs POST {"locale":"de"} as application/json to
${origin}${METHOD_PATH}

or GET
${origin}${METHOD_PATH}?connect=v1&encoding=json&message=%7B%22locale%22%3A%22de%22%7D

More: ${origin}/docs
`;
  const worded = new Headers(answer.headers);
  worded.set("content-type", "text/plain; charset=utf-8");
  worded.set("x-content-type-options", "nosniff");
  return { ...answer, headers: worded, body: new Uint8Array(Buffer.from(text)) };
}

/** Sends an error in the protocol of the request. */
export function errorResponse(
  { method, contentType }: { readonly method: string; readonly contentType: string },
  answer: RouterAnswer,
): Response {
  const headers = allowAnyOrigin(new Headers(answer.headers));
  headers.set("cache-control", "no-store");
  if (answer.status === 405) headers.set("allow", ALLOW);
  if (answer.status === 415) headers.set("accept-post", ACCEPT_POST);
  const { status, body } = answer;
  if (body.byteLength === 0 || method === "HEAD") return new Response(null, { status, headers });
  if (!isGrpcWebText(contentType)) return new Response(body, { status, headers });
  headers.set("content-type", MEDIA_TYPES["grpc-web-text"]);
  return new Response(Buffer.from(body).toString("base64"), { status, headers });
}

/** Builds the answer that the router would give for an error. */
export function errorAnswer(error: ConnectError, contentType: string): RouterAnswer {
  if (!isGrpcWeb(contentType)) {
    return {
      status: codeToHttpStatus(error.code),
      headers: new Headers({ "content-type": contentTypeUnaryJson }),
      body: new Uint8Array(errorToJsonBytes(error, undefined)),
    };
  }
  const trailer = trailerSerialize(setTrailerStatus(new Headers(), error));
  return {
    status: 200,
    headers: new Headers({ "content-type": MEDIA_TYPES["grpc-web"] }),
    body: new Uint8Array(encodeEnvelope(trailerFlag, trailer)),
  };
}
