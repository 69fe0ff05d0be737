import { foldForSearch } from "./fold.ts";

/** The syllables of hiragana from ぁ to ん, in Hepburn's romanization; `*` before the vowel of a small one. */
const SYLLABLES =
  `*a a *i i *u u *e e *o o ka ga ki gi ku gu ke ge ko go sa za shi ji su zu se ze so zo
  ta da chi ji ~ tsu zu te de to do na ni nu ne no ha ba pa hi bi pi fu bu pu he be pe ho bo po
  ma mi mu me mo *ya ya *yu yu *yo yo ra ri ru re ro *wa wa i e o n`.split(/\s+/);
const FIRST = 0x3041;
/** How far katakana is behind hiragana in Unicode. */
const KATAKANA = 0x60;

/**
 * Reads kana as the names that a Japanese reads are written: in katakana (ロンドン for ろんどん), and as the
 * English ones of Japanese places are, with long vowels short (`haneda` for はねだ, `osaka` for
 * おおさか). Empty for a text that has anything else.
 */
export function readKana(text: string): string[] {
  const kana = text.normalize("NFKC").replaceAll(/[\s・]/g, "");
  if (!/^[ぁ-んァ-ヶー]+$/.test(kana)) return [];
  const inLatin = romanize(kana.replaceAll("ー", ""));
  const inKatakana = kana.replaceAll(/[ぁ-ん]/g, (letter) => moved(letter, KATAKANA));
  return [foldForSearch(inKatakana), ...(inLatin ? [inLatin] : [])];
}

/** Undefined for a text with a syllable that Japanese lacks, such as ヴ. */
function romanize(kana: string): string | undefined {
  let read = "";
  for (const letter of kana.replaceAll(/[ァ-ン]/g, (one) => moved(one, -KATAKANA))) {
    const syllable = SYLLABLES[letter.charCodeAt(0) - FIRST];
    if (syllable === undefined) return undefined;
    // きゃ is kya, but しゃ sha.
    const start = /(?:sh|ch|j)i$/.test(read) ? /^\*y?/ : "*";
    if (syllable.startsWith("*")) read = read.replace(/[iu]$/, "") + syllable.replace(start, "");
    else read = read.replace(/~$/, syllable.slice(0, 1)) + syllable;
  }
  const short = read.replaceAll(/ou|oo/g, "o").replaceAll("uu", "u");
  return short.replace(/(?:kokusai)?kuko$/, "");
}

function moved(letter: string, by: number): string {
  return String.fromCharCode(letter.charCodeAt(0) + by);
}
