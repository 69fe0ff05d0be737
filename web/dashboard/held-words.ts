/** Held changes in plain words. Pure. */
import { distanceKm } from "../../src/catalog/positions.ts";
import { changedFields, type DecidedChange } from "../../src/schemas/decided-change.ts";
import { type HeldRule, MOVE_KM } from "../../src/schemas/held-rules.ts";
import type { HeldChange } from "./answers.ts";

/** The changes that each rule marks; `none`: those that no rule marks. */
export const WORDS_OF_RULES: { readonly [rule: string]: string } = {
  obscene: "An obscene word would appear.",
  moves: `An airport would be in another country or subdivision, over ${MOVE_KM} km away, or one of many that leave a region.`,
  changes_code: "An airport would have another IATA code, or a code that is another airport's.",
  changes_name:
    "The name or the municipality has no distinctive word of before, or the name a new one.",
  leaves: "Upstream marks the airport as closed, or has taken its code or its row away.",
  service_lost: "One of many that lose their scheduled service at once.",
  demoted: "An airport would lose its scheduled service, or be small.",
  appears: "An airport would be new, or no longer small.",
  disputed: "Upstream keeps changing its mind.",
  none: "Usual edits, which need no look.",
} satisfies { readonly [R in HeldRule | "none"]: string };

/** Describes the effect of an approval. */
export function effectOf(held: HeldChange): string {
  const { iata, name, before, after } = held;
  const subject = iata ?? `The subdivision ${name}`;
  if (after === null) return `${subject} leaves the catalog, in every language.`;
  if (before === null) return `${subject} enters the catalog, in every language.`;
  if ("lat" in before && "lat" in after && distanceKm(before, after) >= 1) {
    const others = changedFields(held).filter((field) => field !== "lat" && field !== "lon");
    const rest = others.length === 0 ? "" : `, and gets another ${others.join(", ")}`;
    return `${subject} moves by ${Math.round(distanceKm(before, after))} km${rest}.`;
  }
  return `${subject} gets another ${changedFields(held).join(", ")}.`;
}

/** Writes a value of a record. */
export function recordText(value: string | number | boolean | null | undefined): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value ?? "") || "–";
}

/** Describes the served value, and the one that an approval brings. */
export function decidedText({ fields }: DecidedChange): string {
  const list = (write: (field: DecidedChange["fields"][number]) => string) =>
    fields.map((field) => `${field.field}: ${write(field)}`).join(", ");
  if (fields.every(({ after }) => after === null))
    return `leaves the catalog (${list(({ before }) => recordText(before))})`;
  if (fields.every(({ before }) => before === null))
    return `enters the catalog (${list(({ after }) => recordText(after))})`;
  return list(({ before, after }) => `${recordText(before)} → ${recordText(after)}`);
}

/** A part of a text, and whether another text lacks it. */
interface Word {
  readonly text: string;
  readonly isOther: boolean;
}

/** Splits a text into words and separators, and marks those that another text lacks. */
export function compareWords(text: string, other: string): readonly Word[] {
  const [words, otherWords] = [text.split(WHITE_SPACE), other.split(WHITE_SPACE)];
  // The same words in another order differ as a whole.
  if (text !== other && words.toSorted().join("") === otherWords.toSorted().join(""))
    return [{ text, isOther: true }];
  return words.map((word) => ({
    text: word,
    isOther: word.trim() !== "" && !otherWords.includes(word),
  }));
}

const WHITE_SPACE = /(\s+)/;
