import { matchesEntityTag, matchesStrongly } from "../catalog/entity-tag.ts";

/** What the conditions of a GET are about. */
interface Validators {
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
  const ifMatch = headers.get("if-match");
  const isAsExpected =
    ifMatch === null
      ? compareDate(headers.get("if-unmodified-since"), modifiedAt) !== "earlier"
      : matchesStrongly(ifMatch, etag);
  if (!isAsExpected) return "precondition_failed";
  const ifNoneMatch = headers.get("if-none-match");
  const isKnown =
    ifNoneMatch === null
      ? compareDate(headers.get("if-modified-since"), modifiedAt) === "not_earlier"
      : matchesEntityTag(ifNoneMatch, etag);
  return isKnown ? "not_modified" : undefined;
}

/** Whether a date is earlier than Last-Modified; undefined for none and for a malformed one. */
function compareDate(
  text: string | null,
  modifiedAt: string,
): "earlier" | "not_earlier" | undefined {
  if (text === null) return undefined;
  const date = parseHttpDate(text);
  if (Number.isNaN(date)) return undefined;
  return date < Math.floor(Date.parse(modifiedAt) / 1000) * 1000 ? "earlier" : "not_earlier";
}

/** Parses the formats of RFC 9110, section 5.6.7. NaN for any other. */
function parseHttpDate(text: string): number {
  if (/^[A-Z][a-z]+, .+ GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text)
    ? Date.parse(`${text} GMT`)
    : Number.NaN;
}
