/** Reads answers of the service without parsing them: the page of the explorer does, too. */
import { CatalogError } from "./api.ts";
import type { CatalogCopy } from "./refresh.ts";
import { isRecord } from "./search/shape.ts";

/**
 * Reads an answer of Connect over GET, in protobuf.
 *
 * @throws CatalogError with what the service, or whatever else answers at the address, has said.
 */
export async function readAnswer(answer: Response, baseUrl: string): Promise<CatalogCopy> {
  const type = answer.headers.get("content-type")?.split(";", 1)[0] ?? "";
  if (!answer.ok || type !== "application/proto") throw await refusal(answer, { baseUrl, type });
  return {
    ...describeAnswer(answer.headers),
    bytes: new Uint8Array(await answer.arrayBuffer()),
  };
}

/** Codes of answers that are not of the service, such as of a proxy before it. */
const CODES: { readonly [status: number]: string } = {
  401: "unauthenticated",
  403: "permission_denied",
  429: "unavailable",
};

const ADVICE: { readonly [code: string]: string } = {
  unauthenticated: "what stands before the service wants credentials",
  permission_denied: "what stands before the service lets this caller not pass",
  unavailable: "try again later",
  unimplemented: "check that baseUrl is the address of the service",
};

/** Says what an answer that is not the wanted one tells. */
export async function refusal(
  answer: Response,
  { baseUrl, type }: { readonly baseUrl: string; readonly type: string },
): Promise<CatalogError> {
  const { status, headers } = answer;
  const seconds = Number(headers.get("retry-after"));
  const retryAfterSeconds = seconds > 0 ? seconds : null;
  const said: unknown = type === "application/json" ? await answer.json().catch(() => null) : null;
  if (isRecord(said) && typeof said["code"] === "string")
    return new CatalogError({
      code: said["code"],
      message: typeof said["message"] === "string" ? said["message"] : "",
      retryAfterSeconds,
    });
  const code = CODES[status] ?? (status >= 500 ? "unavailable" : "unimplemented");
  const message = `${baseUrl} answered with ${type || "something unnamed"} (HTTP ${status}) instead of data: ${ADVICE[code]}`;
  return new CatalogError({ code, message, retryAfterSeconds });
}

/** Node's codes of certificates that it does not trust, which no repetition mends. */
const CERTIFICATE = /CERT|SIGNATURE/;

/** Says why no answer came, as far as the platform tells. */
export function unreachable(baseUrl: string, cause: unknown): CatalogError {
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

/** What the headers of an answer say of it. */
export function describeAnswer(headers: Headers): Omit<CatalogCopy, "bytes"> {
  return {
    sha256: headers.get("catalog-sha256") ?? "",
    version: Number(headers.get("catalog-version")),
    language: headers.get("content-language") ?? "",
  };
}
