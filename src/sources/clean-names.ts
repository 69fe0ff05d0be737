/** Cleans the names that OurAirports' editors write. Pure. */

/** Normalizes to NFC, trims, and collapses white space and control characters to one space. */
export function cleanText(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Notes of OurAirports' editors in a name, in any bracket and case, closed or not. */
const STATE_NOTE =
  /[([{]\s*(?:duplicate|unusable|closed|abandoned|disused|inactive|under construction|u\.?\s?c\.?)(?![\p{L}\d])[^()[\]{}]*(?:[)\]}]|$)/giu;

/** Mark of a row that the editors want to delete. */
const DELETION_MARK = /(?<!\p{L})XXX(?!\p{L})/gu;

/** Repetition of the name in a non-Latin script, after a dash or slash. */
const OTHER_SCRIPT = /\s[-–/]\s[^\p{Script=Latin}]*(?!\p{Script=Latin})\p{L}[^\p{Script=Latin}]*$/u;

/** Removes notes such as "(unusable)" and repetitions in another script from a name. */
export function cleanName(name: string): string {
  return cleanText(withoutStateNotes(cleanText(name)).replace(OTHER_SCRIPT, ""));
}

function withoutStateNotes(name: string): string {
  return name.replace(STATE_NOTE, " ").replace(DELETION_MARK, " ");
}

/** Whether a name says that the airport is not in use. */
export function hasStateNote(name: string): boolean {
  return withoutStateNotes(name) !== name;
}
