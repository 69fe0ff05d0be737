/** Sends requests to the service, and reads the answers. The explorer's page uses it, too. */
import { CatalogError, type CatalogFailure } from "./api.ts";
import { orAborted } from "./joint.ts";
import { check } from "./options.ts";
import { isRecord } from "./search/shape.ts";

/** Where the catalog comes from. */
export interface Source {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** A BCP 47 language tag; the service's default without one. */
  readonly locale?: string | undefined;
  /** Sends each request, with more headers or over a service binding. */
  readonly fetch?: typeof fetch | undefined;
  /** Ends the requests. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer of the service, as a client stores it. */
export interface CatalogCopy {
  /** A `LocationsResponse` in protobuf. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the bytes, in hex: `Catalog-Sha256`. */
  readonly sha256: string;
  /** `Catalog-Version`. */
  readonly version: number;
  /** Of the regions' names: `Content-Language`. */
  readonly language: string;
}

interface Request {
  readonly url: string;
  readonly method?: "GET" | "HEAD";
  /** Content type of the answer. */
  readonly type: string;
  /** Whether a cache on the way may answer. */
  readonly mayBeCached?: boolean;
}

/** A whole answer of the service. */
export interface Loaded {
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Sends a request, and reads all of its answer.
 *
 * @throws CatalogError if no whole answer comes, or something else answers; the reason of the signal
 *   if that is aborted.
 */
export async function load(source: Source, request: Request): Promise<Loaded> {
  const { baseUrl, fetch: send = fetch, signal = new AbortController().signal } = source;
  const { url, method = "GET", type, mayBeCached = false } = request;
  // A Worker from before 2024-11-11 refuses `cache`, which its requests lack.
  const cache = !mayBeCached && "cache" in globalThis.Request.prototype ? "no-store" : undefined;
  const loading = async () => {
    const answer = await send(url, { method, signal, ...(cache && { cache }) });
    check("the result of the option fetch", answer, isResponse, "a Response");
    if (!answer.ok || typeOf(answer) !== type) throw await refusal(answer, baseUrl);
    // Also of a HEAD: Chromium reports a request as aborted if nobody has read its body.
    return { headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) };
  };
  try {
    return await orAborted(loading(), signal);
  } catch (cause) {
    if (signal.aborted || cause instanceof CatalogError) throw cause;
    throw unreachable(baseUrl, cause);
  }
}

/** Whether it has what is read of it: that of another implementation of `fetch` has another class. */
function isResponse(value: unknown): boolean {
  return (
    isRecord(value) && isRecord(value["headers"]) && typeof value["arrayBuffer"] === "function"
  );
}

/**
 * Reads an answer of Connect over GET, in protobuf.
 *
 * @throws CatalogError with the words of the service, or of what else answers at the address.
 */
export async function readAnswer(answer: Response, baseUrl: string): Promise<CatalogCopy> {
  if (!answer.ok || typeOf(answer) !== PROTO) throw await refusal(answer, baseUrl);
  return {
    ...describeAnswer(answer.headers),
    bytes: new Uint8Array(await answer.arrayBuffer()),
  };
}

export const PROTO = "application/proto";
export const JSON_TYPE = "application/json";

function typeOf({ headers }: Response): string {
  return headers.get("content-type")?.split(";", 1)[0] ?? "";
}

/** Codes of answers that are not of the service, such as of a proxy before it. */
const CODES: { readonly [status: number]: string } = {
  401: "unauthenticated",
  403: "permission_denied",
};

/** Statuses below 500 for which trying again helps; 0 of a `fetch` that returns `Response.error()`. */
const TRANSIENT = [0, 304, 407, 408, 421, 425, 429];

/** The codes of Connect. */
const CODES_OF_THE_SERVICE: readonly unknown[] =
  "canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated".split(
    " ",
  );

const ADVICE: { readonly [code: string]: string } = {
  unauthenticated: "something before the service wants credentials",
  permission_denied: "something before the service refuses this caller",
  unavailable: "try again later",
  unimplemented: "check that baseUrl is the address of the service",
};

/** For the sign-in page of a network, or any page at a wrong address. */
const OF_ANOTHER =
  "check that this network wants no sign-in, and that baseUrl is the address of the service";

/** An answer that is not the wanted one. */
export class Refusal extends CatalogError {
  readonly status: number;

  constructor(status: number, failure: CatalogFailure) {
    super(failure);
    this.status = status;
  }
}

/** Describes such an answer. */
async function refusal(answer: Response, baseUrl: string): Promise<Refusal> {
  const { ok, status, headers } = answer;
  const type = typeOf(answer);
  const retryAfterSeconds = readRetryAfter(headers.get("retry-after"));
  const said: unknown = type === JSON_TYPE ? await answer.json().catch(() => null) : null;
  if (!ok && isFailure(said)) return new Refusal(status, { ...said, retryAfterSeconds });
  const isTransient = ok || status >= 500 || TRANSIENT.includes(status);
  const code = CODES[status] ?? (isTransient ? "unavailable" : "unimplemented");
  const message = `${baseUrl} answered with ${type || "something unnamed"} (HTTP ${status}) instead of data: ${ok ? OF_ANOTHER : ADVICE[code]}`;
  return new Refusal(status, { code, message, retryAfterSeconds });
}

/** Whether JSON is an error of Connect: a portal may answer with JSON, too. */
function isFailure(said: unknown): said is { readonly code: string; readonly message: string } {
  if (!isRecord(said)) return false;
  const { code, message } = said;
  return CODES_OF_THE_SERVICE.includes(code) && typeof message === "string" && message !== "";
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return seconds > 0 ? seconds : null;
}

/** Node's codes of certificates that it does not trust, for which trying again is no help. */
const CERTIFICATE = /CERT|SIGNATURE/;

/** Says why no whole answer came, as far as the platform tells. */
function unreachable(baseUrl: string, cause: unknown): CatalogError {
  const { message, cause: inner }: { message?: string; cause?: unknown } =
    cause instanceof Error ? cause : { message: String(cause) };
  const reason = isRecord(inner) && typeof inner["code"] === "string" ? inner["code"] : message;
  const isForGood = CERTIFICATE.test(reason ?? "");
  const advice = isForGood
    ? "its certificate is not trusted here"
    : "check the address and the connection; a page must name it in connect-src of its Content-Security-Policy";
  const failure = {
    code: isForGood ? "failed_precondition" : "unavailable",
    message: `${baseUrl} cannot be reached (${reason}): ${advice}`,
    retryAfterSeconds: null,
  };
  return new CatalogError(failure, { cause });
}

/** Says that an answer is not the one that was sent. */
export function damaged(baseUrl: string): CatalogError {
  const message = `the answer of ${baseUrl} is damaged, or has lost its headers: try again`;
  return new CatalogError({ code: "unavailable", message, retryAfterSeconds: null });
}

/** Reads the headers that describe an answer. */
export function describeAnswer(headers: Headers): Omit<CatalogCopy, "bytes"> {
  return {
    sha256: headers.get("catalog-sha256") ?? "",
    version: Number(headers.get("catalog-version")),
    language: headers.get("content-language") ?? "",
  };
}
