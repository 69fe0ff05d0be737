/** Names of ISO 3166-2 subdivisions in one locale, by CLDR code (`frocc`). */
export type SubdivisionNames = ReadonlyMap<string, string>;

/** An upstream code as CLDR writes it: `frocc` of `FR-OCC`. */
export function cldrCode(code: string): string {
  return code.toLowerCase().replaceAll("-", "");
}

/** A CLDR code as ISO 3166-2 writes it: `FR-OCC` of `frocc`. */
export function isoCode(cldr: string): string {
  return `${cldr.slice(0, 2)}-${cldr.slice(2)}`.toUpperCase();
}
