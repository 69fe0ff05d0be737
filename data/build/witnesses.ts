import { ownCountry } from "./catalog-region.ts";
import type { RegionName, Verdict } from "./verdicts.ts";

/** What says, beside CLDR's provisional list, that a name is the region's. */
export interface Evidence {
  /** Undefined if the tables do not have the name. */
  readonly verdict: (name: RegionName) => Verdict | undefined;
  /** Whether CLDR's own translators have voted for a name. */
  readonly isVetted: (name: RegionName) => boolean;
  /** The regions of a country that are named after a city which has a name in GeoNames, in any language. */
  readonly regionsOfCity: (country: string, name: string) => ReadonlySet<string>;
  /** Whether a name has a word that sounds like one of the region's English names. */
  readonly soundsOwn: (name: RegionName) => boolean;
}

/** Names, and what the witnesses say of them. */
export interface WitnessedNames {
  /** Those that were taken, or that a witness speaks for and nobody refused. */
  readonly taken: readonly RegionName[];
  /** Those on which neither the tables nor the witnesses decide. */
  readonly undecided: readonly RegionName[];
  /** Those taken that witnesses give to another region of the country. */
  readonly contradicted: readonly RegionName[];
}

/** Locales of one language write its names alike: they are no witnesses of each other. */
const LANGUAGE_OF: ReadonlyMap<string, string> = new Map([
  ["yue", "zh"],
  ["yue-Hans", "zh"],
  ["zh-Hant", "zh"],
  ["sr-Latn", "sr"],
]);

function languageOf(locale: string): string {
  return LANGUAGE_OF.get(locale) ?? locale;
}

function idInCountry({ key, name }: RegionName): string {
  return `${ownCountry(key)}:${name.toLowerCase()}`;
}

/**
 * Asks the tables and the witnesses about names. A name that the tables do not have is taken if
 * GeoNames has it for the city that the region is named after, or if it was taken in another language.
 */
export function findWitnesses(names: readonly RegionName[], evidence: Evidence): WitnessedNames {
  const { verdict, isVetted, regionsOfCity, soundsOwn } = evidence;
  const vetted = new Set(names.filter(isVetted));
  const others = names.filter((name) => !vetted.has(name));
  const byVerdict = Map.groupBy(others, verdict);
  const decided = [...vetted, ...(byVerdict.get("taken") ?? [])];
  const alike = Map.groupBy(decided, idInCountry);
  /** The regions of the country that another language calls so, or whose city GeoNames does. */
  const witnessedRegions = (name: RegionName): ReadonlySet<string> =>
    new Set([
      ...(alike.get(idInCountry(name)) ?? [])
        .filter(({ locale }) => languageOf(locale) !== languageOf(name.locale))
        .map(({ key }) => key),
      ...regionsOfCity(ownCountry(name.key), name.name),
    ]);
  const unknown = Map.groupBy(byVerdict.get(undefined) ?? [], (name) =>
    witnessedRegions(name).has(name.key),
  );
  const taken = [...decided, ...(unknown.get(true) ?? [])];
  return {
    taken,
    undecided: unknown.get(false) ?? [],
    contradicted: taken.filter((name) => {
      if (vetted.has(name) || soundsOwn(name)) return false;
      const regions = witnessedRegions(name);
      return regions.size > 0 && !regions.has(name.key);
    }),
  };
}
