import type { LoadRequest } from "../../bench/load.ts";
import type { WireAnswer } from "../../bench/answer-check.ts";

/** An error in its protocol's terms. */
export interface WireError {
  readonly code: string;
  /** Whether the answer has Retry-After. */
  readonly saysWhen: boolean;
}

/** gRPC's numbers of the codes that may come. */
const GRPC_CODES: { readonly [number: string]: string } = {
  "3": "invalid_argument",
  "4": "deadline_exceeded",
  "13": "internal",
  "14": "unavailable",
  "15": "data_loss",
};
const TRAILER_FLAG = 0x80;

/** The error that an answer to a method is in the form of its protocol; undefined if it is none. */
export function readError(
  { status, header, body }: WireAnswer,
  method: string,
): WireError | undefined {
  const type = header("content-type") ?? "";
  const retryAfter = Number(header("retry-after"));
  if (type.startsWith("application/grpc-web")) {
    const frames = type.includes("-text")
      ? Buffer.from(Buffer.from(body).toString(), "base64")
      : body;
    const trailer = errorTrailer(Buffer.from(frames));
    if (trailer === undefined) return undefined;
    const number = /^grpc-status: *(\d+)/im.exec(trailer)?.[1] ?? "";
    const saysWhen = retryAfter > 0 || /^retry-after: *[1-9]/im.test(trailer);
    return { code: GRPC_CODES[number] ?? `grpc-status ${number}`, saysWhen };
  }
  if (status < 400) return undefined;
  const code = method === "HEAD" ? HEAD_CODES[status] : connectCode(body, status);
  return { code: code ?? `status ${status}`, saysWhen: retryAfter > 0 };
}

/** The trailer of an answer that has no message. */
function errorTrailer(frames: Buffer): string | undefined {
  if (frames.length < 5 || frames[0] !== TRAILER_FLAG) return undefined;
  return frames.subarray(5, 5 + frames.readUInt32BE(1)).toString();
}

/**
 * Codes by Connect's statuses, which are all that the answer to a HEAD has. Of the codes that have 500,
 * `data_loss` is none of a HEAD's: the manifest alone answers it, and no body is opened.
 */
const HEAD_CODES: { readonly [status: number]: string } = {
  400: "invalid_argument",
  500: "internal",
  503: "unavailable",
  504: "deadline_exceeded",
};

function connectCode(body: Uint8Array, status: number): string {
  try {
    const { code } = JSON.parse(Buffer.from(body).toString()) as { code?: unknown }; // looked at below
    return typeof code === "string" ? code : `status ${status} without a code`;
  } catch {
    return `status ${status}: ${Buffer.from(body).toString().slice(0, 200)}`;
  }
}

/** A request with its possible outcomes. */
export interface ChaosRequest extends LoadRequest {
  readonly locale: string;
  /** Whether it has a deadline, which may pass. */
  readonly isTimed: boolean;
}

/**
 * Why an error must not be the answer; undefined if it may. `sawDamage`: whether copies may have
 * looked damaged or missing to the request.
 */
export function refuseError(
  error: WireError,
  { request, sawDamage }: { readonly request: ChaosRequest; readonly sawDamage: boolean },
): string | undefined {
  if (request.locale === MALFORMED)
    return error.code === "invalid_argument" ? undefined : `${error.code} for a malformed locale`;
  switch (error.code) {
    case "unavailable":
      return error.saysWhen ? undefined : "unavailable without a word of when to come back";
    case "data_loss":
      return sawDamage ? undefined : "data_loss though no copy was damaged or missing";
    case "deadline_exceeded":
      return request.isTimed ? undefined : "deadline_exceeded without a deadline";
    default:
      return error.code;
  }
}

/** Not a language tag. */
export const MALFORMED = "not a locale";
