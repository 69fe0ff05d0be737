import { memoize } from "../../src/platform/once.ts";
import type { Position } from "./permalink.ts";
import { WORDS, type Words } from "./words/en.ts";

type Unit = "count" | "kilometer" | "megabyte" | "degree";

const FORMATS: { readonly [unit: string]: Intl.NumberFormatOptions } = {
  kilometer: { style: "unit", unit: "kilometer" },
  megabyte: { style: "unit", unit: "megabyte", maximumFractionDigits: 1 },
  degree: {
    style: "unit",
    unit: "degree",
    unitDisplay: "narrow",
    minimumFractionDigits: 4,
    maximumFractionDigits: 4,
  },
} satisfies { readonly [unit in Exclude<Unit, "count">]: Intl.NumberFormatOptions };

/** How the explorer speaks to a traveller: the words of a language, and how it writes numbers. */
export interface Speech {
  readonly language: string;
  readonly words: Words;
  readonly format: (unit: Unit, value: number) => string;
  /** Fills the gaps of a text; numbers are written as counts. */
  readonly fill: (text: string, gaps: { readonly [gap: string]: string | number }) => string;
  readonly countAirports: (count: number) => string;
  readonly position: (position: Position) => string;
}

/** In a language with these words. A format is made when it is first needed, because that takes long. */
export function speechIn(language: string, words: Words): Speech {
  const formatOf = memoize((unit) => new Intl.NumberFormat(language, FORMATS[unit]));
  const rulesOf = memoize((tag) => new Intl.PluralRules(tag));
  const format: Speech["format"] = (unit, value) => formatOf(unit).format(value);
  const fill: Speech["fill"] = (text, gaps) =>
    text.replaceAll(/\{(\w+)\}/g, (_, gap: string) => {
      const value = gaps[gap] ?? "";
      return typeof value === "number" ? format("count", value) : value;
    });
  const side = (text: string, degrees: number) =>
    fill(text, { degrees: format("degree", Math.abs(degrees)) });
  return {
    language,
    words,
    format,
    fill,
    countAirports: (count) =>
      fill(words.airportCount[rulesOf(language).select(count)] ?? words.airportCount.other, {
        count,
      }),
    position: ({ lat, lon }) =>
      [
        side(lat < 0 ? words.south : words.north, lat),
        side(lon < 0 ? words.west : words.east, lon),
      ].join(", "),
  };
}

export const ENGLISH = speechIn("en", WORDS);
