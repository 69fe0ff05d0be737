import anyAscii from "any-ascii";
import { readCurated } from "./curated.ts";
import { readPackageJson } from "./packages.ts";

interface Supplemental {
  readonly supplemental: {
    readonly territoryInfo: Readonly<
      Record<
        string,
        {
          readonly languagePopulation?: Readonly<
            Record<string, { readonly _officialStatus?: string }>
          >;
        }
      >
    >;
    readonly likelySubtags: Readonly<Record<string, string>>;
  };
}

/** Scripts that CLDR names for a language which writes in several. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Jpan: ["Han", "Hiragana", "Katakana"],
  Kore: ["Hangul"],
  Hans: ["Han"],
  Hant: ["Han"],
};

function readSupplemental(name: "territoryInfo" | "likelySubtags"): Supplemental["supplemental"] {
  return readPackageJson<Supplemental>(`cldr-core/supplemental/${name}.json`).supplemental;
}

/** Finds the scripts, other than Latin, of the official languages of countries, as a pattern of a name. */
export function ownScripts(): (country: string) => RegExp | undefined {
  const { territoryInfo } = readSupplemental("territoryInfo");
  const { likelySubtags } = readSupplemental("likelySubtags");
  return (country) => {
    const languages = Object.entries(territoryInfo[country]?.languagePopulation ?? {})
      .filter(([, { _officialStatus: status }]) => status?.endsWith("official"))
      .map(([language]) => language.split("_"));
    const scripts = languages
      .flatMap(([language = "", script]) => script ?? likelySubtags[language]?.split("-")[1] ?? [])
      .filter((script) => script !== "Latn")
      .flatMap((script) => PARTS[script] ?? [script]);
    if (scripts.length === 0) return undefined;
    const letters = [...new Set(scripts)].map((script) => `\\p{Script=${script}}`).join("");
    return new RegExp(`^[${letters}\\p{M}\\p{Script=Common}]+$`, "u");
  };
}

/** A name with the English one of its place. */
export interface NamedPlace {
  readonly country: string;
  readonly name: string;
  readonly english: string;
}

const HAN = /\p{Script=Han}/u;

/** Letters that languages write for one another. */
const ALIKE = ["aeiouyjw", "bpfv", "ckqgx", "dt", "sz", "mn", "rl"];
/** From here on a name sounds like the English one. */
const MIN_LIKENESS = 0.6;

/** A name in a-z, with one letter for all that are alike. */
function soundOf(name: string): string {
  const letters = anyAscii(name)
    .toLowerCase()
    .replaceAll(/[^a-z]/gu, "");
  return ALIKE.reduce(
    (text, alike) => text.replaceAll(new RegExp(`[${alike}]`, "gu"), alike.charAt(0)),
    letters,
  );
}

/** The letters that two names share in their order, as a share of all: 1 if they sound the same. */
export function likeness(name: string, english: string): number {
  const [a, b] = [soundOf(name), soundOf(english)];
  let before = new Array<number>(b.length + 1).fill(0);
  for (const letter of a) {
    const lengths = [0];
    for (let at = 0; at < b.length; at++)
      lengths.push(
        letter === b[at] ? (before[at] ?? 0) + 1 : Math.max(before[at + 1] ?? 0, lengths[at] ?? 0),
      );
    before = lengths;
  }
  return (2 * (before.at(-1) ?? 0)) / (a.length + b.length);
}

/**
 * The names that are those of their places: that sound like the English ones, or that a table has.
 * Nobody hears how Japanese reads Chinese signs, and those of Chinese are heard in Mandarin.
 *
 * @throws Error that names a verdict on a name that no place has.
 */
export function trueNames<P extends NamedPlace>(places: readonly P[]): P[] {
  const rows = readCurated<"country" | "english" | "name" | "verdict">("own-names");
  const verdicts = new Map(rows.map((row) => [describe(row), row.verdict]));
  const known = new Set(places.map(describe));
  const stale = [...verdicts.keys()].find((name) => !known.has(name));
  if (stale !== undefined) throw new Error(`own-names.csv: ${stale}: GeoNames has no such name`);
  return places.filter((place) => {
    const { country, english, name } = place;
    const verdict = verdicts.get(describe(place));
    if (verdict !== undefined) return verdict === "taken";
    return (HAN.test(name) && country !== "CN") || likeness(name, english) >= MIN_LIKENESS;
  });
}

function describe({ country, english, name }: NamedPlace): string {
  return `${name} of ${english} in ${country}`;
}
