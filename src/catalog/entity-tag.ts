import type { Body } from "./manifest.ts";

/** Strong tag of a body: it differs between versions, locales, representations and codings. */
export function entityTag(body: Body): string {
  return `"${body.sha256.slice(0, 32)}"`;
}

/** Whether an If-None-Match value names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const named = ifNoneMatch.matchAll(/(?:^|,)\s*(?:W\/)?("[^"]*")\s*(?=,|$)/g);
  return [...named].some(([, opaque]) => opaque === tag);
}
