import { foldText } from "../../src/catalog/fold.ts";
import { inBothScripts } from "./chinese.ts";
import { cldrCities } from "./exemplar-cities.ts";
import { readTerritoryNames } from "./locale-names.ts";

/** What mainland China and Taiwan call a place, by the votes of CLDR's translators. */
interface Word {
  /** Folded: `bosnia-herzegovina`. */
  readonly english: string;
  readonly country: string;
  readonly isCity: boolean;
  readonly zh: string;
  readonly "zh-Hant": string;
}

/** The countries that name their own places. */
const CHINESE: ReadonlySet<string> = new Set(["CN", "TW"]);

/** A kind that one side alone may add to a name: 马约特, 馬約特島. */
const ISLANDS = /(?<=..)[群诸諸]?[岛島]$/u;

/** Names a place in the Chinese of a locale: its word there for what the English name says. */
export type ChineseWording = (
  name: string,
  place: { readonly english: string; readonly country: string },
) => string;

/**
 * Words the names of one side as it writes: CLDR's provisional names of subdivisions in Chinese
 * mix Taiwan's words (吉布地) with the mainland's (吉布提).
 */
export function chineseWording(locale: "zh" | "zh-Hant"): ChineseWording {
  const words = votedWords();
  const inMainland = new Set(words.map(({ zh }) => plain(zh)));
  /** The words of the other side, unless the mainland has them too. */
  const othersOf = (word: Word): readonly string[] =>
    inBothScripts(plain(word["zh-Hant"])).some((one) => inMainland.has(one))
      ? []
      : inBothScripts(plain(word[locale === "zh" ? "zh-Hant" : "zh"]));
  return (name, { english, country }) => {
    if (CHINESE.has(country)) return name;
    const folded = foldWords(english);
    const isIn = (word: Word) => `-${folded}-`.includes(`-${word.english}-`);
    const isPlace = (word: Word) =>
      word.country === country || (!word.isCity && folded !== word.english);
    return words
      .filter((word) => isPlace(word) && isIn(word))
      .reduce((text, word) => {
        const own = plain(word[locale]);
        const others = othersOf(word).filter((one) => !own.includes(one) || !text.includes(own));
        const swapped = others.reduce((one, other) => one.replace(other, own), text);
        const isCitys = word.isCity && folded === word.english;
        const isOther = swapped === own ? swapped !== text : !swapped.includes(own);
        return isCitys && isOther ? word[locale] : swapped;
      }, name);
  };
}

const foldWords = (english: string): string => foldText(english.replaceAll(/\band\b|&/gu, " "));

/** The places that both sides have a word for, those with the longest names first. */
function votedWords(): readonly Word[] {
  const english = readTerritoryNames("en");
  const mainland = readTerritoryNames("zh");
  const taiwan = readTerritoryNames("zh-Hant");
  return [
    ...[...english].map(([code, name]): Word => ({
      english: foldWords(name),
      country: code,
      isCity: false,
      zh: mainland.get(code) ?? "",
      "zh-Hant": taiwan.get(code) ?? "",
    })),
    ...cldrCities(["zh", "zh-Hant"]).map(({ country, english: name, names }): Word => ({
      english: name,
      country,
      isCity: true,
      zh: names[0] ?? "",
      "zh-Hant": names[1] ?? "",
    })),
  ]
    .filter((word) => word.zh !== "" && word["zh-Hant"] !== "")
    .toSorted((a, b) => b.english.length - a.english.length);
}

function plain(name: string): string {
  return name.replace(ISLANDS, "");
}
