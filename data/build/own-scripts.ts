import anyAscii from "any-ascii";
import { learnHearing } from "./hearing.ts";
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

/**
 * Hears which names are those of their places, country by country. Nobody hears how Japanese reads
 * Chinese signs, and those of Chinese are heard in Mandarin.
 */
export function namesHeard<P extends NamedPlace>(places: readonly P[]): P[] {
  const heard = (name: string) =>
    anyAscii(name)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, "");
  return [...Map.groupBy(places, ({ country }) => country).values()].flatMap((ofCountry) => {
    const { compare } = learnHearing(
      ofCountry.map(({ name, english }) => [heard(name), heard(english)] as const),
    );
    return ofCountry.filter(
      ({ name, english, country }) =>
        (HAN.test(name) && country !== "CN") || compare(heard(name), heard(english)) > 0,
    );
  });
}
