import { tidy } from "../../src/catalog/fold.ts";
import { readCurated } from "./curated.ts";
import { readTerritoryNames } from "./locale-names.ts";
import { readPackageJson } from "./packages.ts";
import { compareCodeUnits } from "./text.ts";

/** A country or territory of ISO 3166-1, or Kosovo. */
export interface Country {
  readonly iso2: string;
  readonly iso3: string;
  readonly nameEnglish: string;
  readonly nameNative: string;
  /** The ITU calling code, digits only; empty where nobody can be called. */
  readonly phonePrefix: string;
}

interface CodeMappings {
  readonly supplemental: {
    readonly codeMappings: Readonly<
      Record<string, { readonly _alpha3?: string; readonly _numeric?: string }>
    >;
  };
}
interface Language {
  readonly _populationPercent: string;
  readonly _officialStatus?: string;
}
interface TerritoryInfo {
  readonly supplemental: {
    readonly territoryInfo: Readonly<
      Record<string, { readonly languagePopulation?: Readonly<Record<string, Language>> }>
    >;
  };
}
interface PhoneMetadata {
  readonly countries: Readonly<Record<string, readonly [callingCode: string, ...rest: unknown[]]>>;
}

/** Codes that CLDR carries though ISO 3166-1 does not assign them to a country. */
const NOT_ISO: ReadonlySet<string> = new Set([
  "AN",
  "BU",
  "CS",
  "DD",
  "FX",
  "NT",
  "QO",
  "QU",
  "SU",
  "TP",
  "YD",
  "YU",
  "ZR",
  "ZZ",
]);

const OFFICIAL: ReadonlySet<string> = new Set(["official", "de_facto_official"]);

/** Alpha-3 codes by alpha-2 of the 249 entries of ISO 3166-1 and XK, whose XKX is the customary one. */
function readIsoCodes(members: ReadonlySet<string>): ReadonlyMap<string, string> {
  const { codeMappings } = readPackageJson<CodeMappings>(
    "cldr-core/supplemental/codeMappings.json",
  ).supplemental;
  const codes = new Map<string, string>();
  for (const [iso2, { _alpha3, _numeric }] of Object.entries(codeMappings)) {
    if (!members.has(iso2) || NOT_ISO.has(iso2) || _alpha3 === undefined || _numeric === undefined)
      continue;
    codes.set(iso2, iso2 === "XK" ? "XKX" : _alpha3);
  }
  return codes;
}

/** The official languages of a territory, the most spoken first, as BCP 47 tags. */
function readOfficialLanguages(): (iso2: string) => string[] {
  const { territoryInfo } = readPackageJson<TerritoryInfo>(
    "cldr-core/supplemental/territoryInfo.json",
  ).supplemental;
  return (iso2) =>
    Object.entries(territoryInfo[iso2]?.languagePopulation ?? {})
      .filter(([, language]) => OFFICIAL.has(language._officialStatus ?? ""))
      .toSorted(
        ([a, left], [b, right]) =>
          Number(right._populationPercent) - Number(left._populationPercent) ||
          compareCodeUnits(a, b),
      )
      .map(([tag]) => tag.replaceAll("_", "-"));
}

let languagesOf: ((iso2: string) => string[]) | undefined;

/** The script, ISO 15924, of the most spoken official language of a country; Latin where it has none. */
export function scriptOf(iso2: string): string {
  languagesOf ??= readOfficialLanguages();
  const language = languagesOf(iso2)[0];
  if (language === undefined) return "Latn";
  return new Intl.Locale(language, { region: iso2 }).maximize().script ?? "Latn";
}

function nativeName(iso2: string, languages: readonly string[], english: string): string {
  for (const language of languages) {
    const name = readTerritoryNames(language).get(iso2);
    if (name !== undefined) return name;
  }
  return english;
}

/**
 * The 250 countries by alpha-2 code.
 * `members` are the territories that the M49 tree holds: what CLDR no longer places is withdrawn.
 */
export function readCountries(members: ReadonlySet<string>): Country[] {
  const english = readTerritoryNames("en");
  const languages = readOfficialLanguages();
  const phones = readPackageJson<PhoneMetadata>("libphonenumber-js/metadata.full.json").countries;
  const names = new Map(
    readCurated<"iso2" | "english" | "native">("country-names").map((row) => [row.iso2, row]),
  );
  const prefixes = new Map(
    readCurated<"iso2" | "prefix">("phone-prefixes").map((row) => [row.iso2, row.prefix]),
  );
  return [...readIsoCodes(members)]
    .map(([iso2, iso3]): Country => {
      const nameEnglish = names.get(iso2)?.english || english.get(iso2) || "";
      const native = names.get(iso2)?.native || nativeName(iso2, languages(iso2), nameEnglish);
      const phonePrefix = prefixes.get(iso2) ?? phones[iso2]?.[0];
      if (phonePrefix === undefined) throw new Error(`no calling code for ${iso2}`);
      return { iso2, iso3, nameEnglish: tidy(nameEnglish), nameNative: tidy(native), phonePrefix };
    })
    .toSorted((a, b) => compareCodeUnits(a.iso2, b.iso2));
}
