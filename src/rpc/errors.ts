import { Code, ConnectError } from "@connectrpc/connect";
import { LOCALE_MAX_BYTES, type ParsedLocale } from "../catalog/locale.ts";
import { badRequest, retryInfo } from "./error-detail.ts";
import type { LookUpFailure } from "./look-up.ts";

/** When to come back while stores are down: about as long as their hiccups last. */
const RETRY_UNAVAILABLE_SECONDS = 5;
/** When to come back before the first catalog is out: ingestion takes a minute or so. */
const RETRY_NOTHING_PUBLISHED_SECONDS = 30;

/** A locale that is no language tag. The text never repeats what the caller sent. */
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

/** Why the catalog could not be served, in Connect's terms. */
export function catalogFailure(reason: LookUpFailure): ConnectError {
  switch (reason) {
    case "nothing_published":
      return unavailable("no catalog has been published yet", RETRY_NOTHING_PUBLISHED_SECONDS);
    case "unavailable":
      return unavailable("the catalog cannot be read at the moment", RETRY_UNAVAILABLE_SECONDS);
    case "data_loss":
      return new ConnectError("every copy of the catalog is damaged", Code.DataLoss);
    default:
      return reason satisfies never;
  }
}

/** A bug: the caller learns no more than that. */
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
