/** Returns a locale's name in its own language, such as "Deutsch", or the tag. */
export function localeName(tag: string): string {
  try {
    return new Intl.DisplayNames([tag], { type: "language", fallback: "code" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
