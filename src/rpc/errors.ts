import { create, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { LOCALE_MAX_BYTES, type ParsedLocale } from "../catalog/locale.ts";
import type { LookUpFailure } from "./look-up.ts";

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

/** Maps a failed look-up to a Connect error. */
export function catalogFailure(reason: LookUpFailure): ConnectError {
  switch (reason) {
    case "nothing_published":
      return unavailable("no catalog has been published yet", RETRY_NOTHING_PUBLISHED_SECONDS);
    case "unavailable":
      return unavailable("the catalog cannot be read at the moment", RETRY_UNAVAILABLE_SECONDS);
    case "not_retained":
      return new ConnectError(
        "no retained version has this hash; leave out v to get the current one",
        Code.NotFound,
      );
    case "data_loss":
      return new ConnectError("every copy of the catalog is damaged", Code.DataLoss);
    default:
      return reason satisfies never;
  }
}

/** Refuses a request whose If-Match or If-Unmodified-Since does not hold. */
export function preconditionFailed(): ConnectError {
  const message = "the catalog is not the one that If-Match or If-Unmodified-Since asks for";
  return new ConnectError(message, Code.FailedPrecondition);
}

/** Reports that the client's deadline has passed, in the words of Connect's router. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
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
