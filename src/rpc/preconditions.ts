import { matchesEntityTag, matchesStrongly } from "../catalog/entity-tag.ts";

/** What the conditions of a GET are about. */
export interface Validators {
  readonly etag: string;
  /** RFC 3339. Last-Modified has it in whole seconds. */
  readonly modifiedAt: string;
}

/**
 * Evaluates the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2. Undefined: the
 * request is answered as if it had none.
 */
export function checkPreconditions(
  headers: Headers,
  { etag, modifiedAt }: Validators,
): "not_modified" | "precondition_failed" | undefined {
  const modified = Math.floor(Date.parse(modifiedAt) / 1000) * 1000;
  const ifMatch = headers.get("if-match");
  const isAsExpected =
    ifMatch === null
      ? !(modified > parseHttpDate(headers.get("if-unmodified-since")))
      : matchesStrongly(ifMatch, etag);
  if (!isAsExpected) return "precondition_failed";
  const ifNoneMatch = headers.get("if-none-match");
  const isKnown =
    ifNoneMatch === null
      ? modified <= parseHttpDate(headers.get("if-modified-since"))
      : matchesEntityTag(ifNoneMatch, etag);
  return isKnown ? "not_modified" : undefined;
}

/** Parses the formats of RFC 9110, section 5.6.7. NaN, which no comparison holds for, if none. */
function parseHttpDate(text: string | null): number {
  if (text === null) return Number.NaN;
  if (/^[A-Z][a-z]+, .+ GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text)
    ? Date.parse(`${text} GMT`)
    : Number.NaN;
}
