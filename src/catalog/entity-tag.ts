import type { Body } from "./manifest.ts";

/** Returns the strong tag of a body, unique per version, locale, representation and coding. */
export function entityTag(body: Body): string {
  return `"${body.sha256.slice(0, 32)}"`;
}

/** Whether If-None-Match matches the tag by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const named = ifNoneMatch.matchAll(/(?:^|,)\s*(?:W\/)?("[^"]*")\s*(?=,|$)/g);
  return [...named].some(([, opaque]) => opaque === tag);
}
