/** Normalizes to NFC, trims, and collapses white space to single spaces. */
export function tidy(text: string): string {
  return text.normalize("NFC").replace(/\s+/gu, " ").trim();
}
