/** Code-unit order: the same on every machine, unlike `localeCompare`. */
export function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A coordinate rounded to 6 decimals (about 0.1 m), without an exponent or a negative zero. */
export function roundCoordinate(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6 + 0;
}

/** Scripts in which a name begins with a capital letter; Georgian has capitals and does not use them so. */
const CAPITALIZED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;

/** The name with its first letter in upper case: CLDR writes some names as they stand inside a sentence. */
export function capitalize(name: string, locale: string): string {
  if (!CAPITALIZED.test(name)) return name;
  const [first = "", ...rest] = name;
  const dotted = first === "i" && /^(tr|az)\b/u.test(locale);
  return (dotted ? "İ" : first.toUpperCase()) + rest.join("");
}

/** Whether the text is a day of the calendar, such as 2026-08-21. */
export function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && text.length === 10;
}
