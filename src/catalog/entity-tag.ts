import type { Body } from "./manifest.ts";

/** Returns the strong tag of a body, unique per version, locale, representation and coding. */
export function entityTag(body: Pick<Body, "sha256">): string {
  return `"${body.sha256.slice(0, 32)}"`;
}

/** Whether If-None-Match names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  // A browser sends the one tag that it has, which needs no parsing.
  const given = ifNoneMatch.trim();
  if (given === tag || given === "*") return true;
  return listTags(given).some(({ opaque }) => opaque === tag);
}

/**
 * Finds the tag of a delta of a body in If-None-Match. Its client has the decoded body, from whatever
 * dictionary the delta was.
 */
export function findDeltaTag(ifNoneMatch: string, body: Body): string | undefined {
  const end = `${body.sha256.slice(0, 16)}"`;
  return listTags(ifNoneMatch).find(
    ({ opaque }) => /^"[0-9a-f]{32}"$/.test(opaque) && opaque.endsWith(end),
  )?.opaque;
}

/** Whether If-Match names the tag, by strong comparison (RFC 9110, section 13.1.1). */
export function matchesStrongly(ifMatch: string, tag: string): boolean {
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
