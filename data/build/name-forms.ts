import { foldText } from "../../src/catalog/fold.ts";
import { isKind } from "./region-names.ts";
import type { Sounds } from "./sound.ts";

/** A bracket that nothing closes, at the end: `Baucau (municipalité`. */
const HALF_BRACKETED = /\s*[(（][^()（）]*$/u;

/** Quotation marks and apostrophes around a name. */
const QUOTED = /^["'’‘`´“”«»]+|["'’‘`´“”«»]+$/gu;

/** Languages that write each word of a name with a capital letter, but those for its kind. */
const CAPITALIZING: ReadonlySet<string> = new Set(["sw", "tr", "uz", "vi"]);

/** What a name is judged by. */
interface Region {
  readonly locale: string;
  readonly english: string;
  /** Whether a language of its country has another script: an apostrophe may stand for a letter. */
  readonly isTransliterated: boolean;
  readonly soundsLike: Sounds["soundsLike"];
}

/**
 * A name without what cutting and gathering have left over: half a bracket, a mark of quotation or of
 * a genitive, and small letters where its language has capitals.
 */
export function wellFormed(name: string, region: Region): string {
  const whole = name.replace(HALF_BRACKETED, "") || name;
  const plain = region.isTransliterated ? whole : whole.replace(QUOTED, "");
  return CAPITALIZING.has(region.locale) ? withCapitals(plain, region) : plain;
}

/** Words that begin and sound like one of the English name, other than its kind, get its capital letter. */
function withCapitals(name: string, { locale, english, soundsLike }: Region): string {
  const own = english
    .split(/[\s–-]+/u)
    .filter((word) => /^\p{Lu}/u.test(word) && !foldText(word).split("-").some(isKind));
  return name.replace(/(?<=[\s-])\p{Ll}{4,}/gu, (word) =>
    own.some((one) => soundsLike(word, one) && word.startsWith(one.slice(0, 1).toLowerCase()))
      ? word.slice(0, 1).toLocaleUpperCase(locale) + word.slice(1)
      : word,
  );
}
