import type { EpochMs, Instant } from "../platform/units.ts";

/** The conditions of a GET or HEAD; null for those that are absent or do not apply. */
export interface Conditions {
  readonly ifMatch: string | null;
  readonly ifUnmodifiedSince: string | null;
  readonly ifNoneMatch: string | null;
  readonly ifModifiedSince: string | null;
}

/** Reads the conditions. A date applies only without tags (RFC 9110, sections 13.1.3 and 13.1.4). */
export function readConditions(headers: Headers): Conditions {
  const ifMatch = headers.get("if-match");
  const ifNoneMatch = headers.get("if-none-match");
  return {
    ifMatch,
    ifUnmodifiedSince: ifMatch === null ? headers.get("if-unmodified-since") : null,
    ifNoneMatch,
    ifModifiedSince: ifNoneMatch === null ? headers.get("if-modified-since") : null,
  };
}

interface BodyValidators {
  readonly etag: string;
  /** Last-Modified has it in whole seconds. */
  readonly modifiedAt: Instant;
}

/** Evaluates the conditions in the order of RFC 9110, section 13.2.2. Undefined if all hold. */
export function checkPreconditions(
  { ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince }: Conditions,
  { etag, modifiedAt }: BodyValidators,
): "not_modified" | "precondition_failed" | undefined {
  const isAsExpected =
    (ifMatch === null || matchesStrongly(ifMatch, etag)) &&
    compareDate(ifUnmodifiedSince, modifiedAt) !== "earlier";
  if (!isAsExpected) return "precondition_failed";
  const isKnown =
    (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, etag)) ||
    compareDate(ifModifiedSince, modifiedAt) === "not_earlier";
  return isKnown ? "not_modified" : undefined;
}

/** Whether a date is earlier than Last-Modified; undefined for none and for a malformed one. */
function compareDate(
  text: string | null,
  modifiedAt: Instant,
): "earlier" | "not_earlier" | undefined {
  if (text === null) return undefined;
  const date = parseHttpDate(text);
  if (Number.isNaN(date)) return undefined;
  return date < Math.floor(Date.parse(modifiedAt) / 1000) * 1000 ? "earlier" : "not_earlier";
}

/** Parses the formats of RFC 9110, section 5.6.7. NaN for any other. */
function parseHttpDate(text: string): EpochMs {
  if (/^[A-Z][a-z]+, .+ GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text)
    ? Date.parse(`${text} GMT`)
    : Number.NaN;
}

/** Whether If-None-Match names the tag, weak or strong, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  // A browser sends the one tag that it has, which needs no parsing.
  const given = ifNoneMatch.trim();
  if (given === tag || given === "*") return true;
  const wanted = tag.replace(/^W\//, "");
  return listTags(given).some(({ opaque }) => opaque === wanted);
}

/** Whether If-Match names the tag, by strong comparison (RFC 9110, section 13.1.1). */
function matchesStrongly(ifMatch: string, tag: string): boolean {
  const isNamed = ({ isWeak, opaque }: Tag) => !isWeak && opaque === tag;
  return ifMatch.trim() === "*" || listTags(ifMatch).some(isNamed);
}

interface Tag {
  readonly isWeak: boolean;
  /** With its quotes. */
  readonly opaque: string;
}

/** Lists the tags up to the first that is malformed. A tag may contain commas. */
function listTags(list: string): Tag[] {
  const tags: Tag[] = [];
  let at = skip(list, 0, " \t,");
  while (at < list.length) {
    const isWeak = list.startsWith("W/", at);
    const start = isWeak ? at + 2 : at;
    const end = list[start] === '"' ? list.indexOf('"', start + 1) : -1;
    const next = skip(list, end + 1, " \t");
    if (end < 0 || (next < list.length && list[next] !== ",")) break;
    tags.push({ isWeak, opaque: list.slice(start, end + 1) });
    at = skip(list, next, " \t,");
  }
  return tags;
}

/** Finds the first character from `at` on that is none of `characters`. */
function skip(text: string, at: number, characters: string): number {
  let next = at;
  while (next < text.length && characters.includes(text.charAt(next))) next++;
  return next;
}
