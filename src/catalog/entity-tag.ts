import type { Body } from "./manifest.ts";

/** Returns the strong tag of a body, unique per version, locale, representation and coding. */
export function entityTag(body: Body): string {
  return `"${body.sha256.slice(0, 32)}"`;
}

/** Whether If-None-Match names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === "*" || listTags(ifNoneMatch).some(({ opaque }) => opaque === tag);
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
  const element = /[ \t]*(?:(W\/)?("[^"]*"))?[ \t]*(?:,|$)/y;
  const tags: Tag[] = [];
  while (element.lastIndex < list.length) {
    const found = element.exec(list);
    if (found === null) break;
    const [, weak, opaque] = found;
    if (opaque !== undefined) tags.push({ isWeak: weak !== undefined, opaque });
  }
  return tags;
}
