import { type CatalogRegion, countryOfRegion, ownCountry } from "./catalog-region.ts";
import { type EnglishForm, englishForm } from "./english-forms.ts";
import { type HeardName, learnJudge, type NameJudge } from "./name-judge.ts";
import type { HeadWords } from "./plain-names.ts";
import { shareStem } from "./region-names.ts";

/**
 * What says, beside CLDR's provisional list, that a name is the region's:
 * - `vetted`: CLDR's own translators, by vote;
 * - `sound`: it sounds like the English name or translates its words, and is nearer to it than to another region's;
 * - `city`: GeoNames has it as a name of the city that the region is named after;
 * - `locale`: another locale, whose name has one of these witnesses, has the same name;
 * - `confirmed`: a row of `confirmed-names.csv`.
 */
export type Witness = "vetted" | "sound" | "city" | "locale" | "confirmed";

/** A name that has a witness. */
export interface WitnessedName {
  /** Without what follows a comma or a dash if only the part before it has a witness. */
  readonly name: string;
  readonly witness: Witness;
}

/** The names of one locale by region key. */
type Names = ReadonlyMap<string, string>;

type Region = Pick<CatalogRegion, "key" | "bareName">;

/** What names are judged by. */
export interface Evidence {
  readonly regions: readonly Region[];
  /** Other names of a region that its own country or upstream has. */
  readonly otherNames: (key: string) => readonly string[];
  readonly headWords: ReadonlyMap<string, HeadWords>;
  readonly toAscii: (name: string) => string;
  /** The country's name in a locale; empty if there is none. */
  readonly countryName: (locale: string, country: string) => string;
  /** Whether CLDR's translators have voted for a name. */
  readonly isVetted: (locale: string, key: string, name: string) => boolean;
  /** GeoNames' names, in all languages, of the cities in a country that have an English name. */
  readonly cityNames: (country: string, english: EnglishForm) => readonly string[];
  /** Whether `confirmed-names.csv` has a name. */
  readonly confirmed: (locale: string, key: string, name: string) => boolean;
}

/** Below this likeness two names are two, however few others are nearer. */
const MIN_LIKENESS = 1.5;
/** The same for each letter of an English name that is not translated. */
const LEAST_PER_LETTER = 0.25;
/** From here on names of two locales are one. */
const SAME_IN_LOCALES = 8;
/** A name that another locale's confirms may confirm a third. */
const ROUNDS = 2;
/** Another name of the region, or of another place, after the name. */
const ADDED = /\s*[,،，].*$|\s[-–—]\s.*$/u;
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

/** The names of a locale without those that have digits, or Latin letters that most of them do not have. */
function withoutBlemishes(names: Names): Names {
  const isLatin = (name: string) => /\p{Script=Latin}{2}/u.test(name);
  const isUsual = [...names.values()].filter(isLatin).length * 2 > names.size;
  return new Map(
    [...names].filter(([, name]) => !/\p{Nd}/u.test(name) && (isUsual || !isLatin(name))),
  );
}

/** Judges names of regions in one locale. */
export interface LocaleJudge {
  /** The name, or the part before a comma, if it has a witness in its sound or its words. */
  readonly heard: (name: string, key: string) => string | undefined;
  readonly isCity: (name: string, key: string) => boolean;
  readonly judge: NameJudge;
  /** Whether a name is as near to another region of the country. */
  readonly isOther: (heard: HeardName, key: string, likeness: number, sound?: number) => boolean;
}

/** The English forms of all regions, and those of each country. */
export class RegionForms {
  readonly #own: ReadonlyMap<string, EnglishForm>;
  readonly #all: ReadonlyMap<string, readonly EnglishForm[]>;
  readonly #mates: ReadonlyMap<string, readonly EnglishForm[]>;

  constructor({ regions, otherNames }: Pick<Evidence, "regions" | "otherNames">) {
    const byCountry = Map.groupBy(regions, ({ key }) => ownCountry(key));
    this.#own = new Map(regions.map(({ key, bareName }) => [key, englishForm(bareName)]));
    this.#all = new Map(
      regions.map(({ key, bareName }) => {
        const isOthers = (name: string) =>
          !shareStem(name, bareName) &&
          byCountry
            .get(ownCountry(key))
            ?.some((other) => other.key !== key && shareStem(name, other.bareName));
        const others = otherNames(key).filter((name) => name !== "" && !isOthers(name));
        const forms = [this.own(key), ...others.map(englishForm)];
        return [key, [...new Map(forms.map((form) => [form.linked, form])).values()]];
      }),
    );
    this.#mates = new Map(
      [...byCountry].map(([country, mates]) => [country, mates.map(({ key }) => this.own(key))]),
    );
  }

  /** Of the English name. */
  own(key: string): EnglishForm {
    const form = this.#own.get(key);
    if (form === undefined) throw new Error(`no region ${key}`);
    return form;
  }

  /** Of the English name and the others. */
  all(key: string): readonly EnglishForm[] {
    return this.#all.get(key) ?? [];
  }

  /** Of the regions of its country that mean something else. */
  mates(key: string): EnglishForm[] {
    const { meaning } = this.own(key);
    return (this.#mates.get(ownCountry(key)) ?? []).filter((form) => form.meaning !== meaning);
  }
}

/** Learns to judge the names of a locale from all that it has. */
export function localeJudge(
  locale: string,
  names: Names,
  { forms, evidence }: { readonly forms: RegionForms; readonly evidence: Evidence },
): LocaleJudge {
  const { headWords, toAscii, countryName, cityNames } = evidence;
  const judge = learnJudge(
    [...names].map(([key, name]) => ({ name, english: forms.own(key) })),
    { locale, headWords: headWords.get(locale), toAscii },
  );
  const isOther = (heard: HeardName, key: string, likeness: number, sound?: number) =>
    forms
      .mates(key)
      .some(
        (mate) =>
          judge.compare(heard, mate, sound).value >= likeness && !judge.isTurned(heard, mate),
      );

  function isNamed(heard: HeardName, key: string, form: EnglishForm): boolean {
    const { value, sound } = judge.compare(heard, form);
    const least = judge.isTranslated(heard, form) ? 0 : LEAST_PER_LETTER * form.content.length;
    if (value < Math.max(MIN_LIKENESS, least) || judge.isTurned(heard, form)) return false;
    if (judge.hasMore(heard, form) || judge.hasLess(heard, form)) return false;
    return !isOther(heard, key, value, sound);
  }

  const isHeard = (name: string, key: string): boolean => {
    const country = countryName(locale, countryOfRegion(key)).toLocaleLowerCase(locale);
    const heard = judge.hear(name, country);
    return forms.all(key).some((form) => isNamed(heard, key, form));
  };
  const { body } = judge.vocabulary;
  return {
    judge,
    isOther,
    heard: (name, key) =>
      [name.replace(ADDED, ""), name].find((one) => one !== "" && isHeard(one, key)),
    isCity: (name, key) => {
      const own = body(name).join(" ");
      return forms
        .all(key)
        .flatMap((form) => cityNames(ownCountry(key), form))
        .some((city) => city === name || body(city).join(" ") === own);
    },
  };
}

/** The locales' judges and the names that have a witness so far. */
interface Court {
  readonly names: ReadonlyMap<string, Names>;
  readonly judges: ReadonlyMap<string, LocaleJudge>;
  readonly witnessed: ReadonlyMap<string, ReadonlyMap<string, WitnessedName>>;
  readonly forms: RegionForms;
}

/** Whether a locale with a witness has the same name of a region: written alike, or by sound in another language. */
export function hasWitnessElsewhere(
  locale: string,
  key: string,
  name: string,
  { judges, witnessed, forms }: Court,
): boolean {
  const own = judges.get(locale);
  if (own === undefined) return false;
  const { hear, isTurned, compareBodies, vocabulary } = own.judge;
  const heard = hear(name);
  if (isTurned(heard, forms.own(key))) return false;
  const body = vocabulary.body(name).join(" ");
  let likeness = 0;
  for (const [other, names] of witnessed) {
    const judge = judges.get(other)?.judge;
    const found = names.get(key)?.name;
    if (other === locale || judge === undefined || found === undefined) continue;
    if (found === name || judge.vocabulary.body(found).join(" ") === body) return true;
    if (languageOf(other) !== languageOf(locale))
      likeness = Math.max(likeness, compareBodies(heard, judge.soundOf(judge.hear(found))));
  }
  return likeness >= SAME_IN_LOCALES && !own.isOther(heard, key, likeness);
}

/** What judged the names, to judge others by. */
export interface Witnesses extends Court {
  /** By locale and region key. */
  readonly witnessed: ReadonlyMap<string, ReadonlyMap<string, WitnessedName>>;
}

/**
 * The names of all locales that have a witness. That two related languages agree is none: they
 * copied each other.
 */
export function findWitnesses(names: ReadonlyMap<string, Names>, evidence: Evidence): Witnesses {
  const forms = new RegionForms(evidence);
  const judges = new Map<string, LocaleJudge>();
  const witnessed = new Map<string, Map<string, WitnessedName>>();
  const clean = new Map([...names].map(([locale, all]) => [locale, withoutBlemishes(all)]));
  for (const [locale, own] of clean) {
    const judge = localeJudge(locale, own, { forms, evidence });
    judges.set(locale, judge);
    witnessed.set(
      locale,
      new Map([...own].flatMap(([key, name]) => witnessOf(locale, key, name, judge))),
    );
  }
  function witnessOf(
    locale: string,
    key: string,
    name: string,
    { heard, isCity }: LocaleJudge,
  ): [string, WitnessedName][] {
    if (evidence.isVetted(locale, key, name)) return [[key, { name, witness: "vetted" }]];
    if (evidence.confirmed(locale, key, name)) return [[key, { name, witness: "confirmed" }]];
    const found = heard(name, key);
    if (found !== undefined) return [[key, { name: found, witness: "sound" }]];
    return isCity(name, key) ? [[key, { name, witness: "city" }]] : [];
  }
  const court = { names: clean, judges, witnessed, forms };
  for (let round = 0; round < ROUNDS; round++) {
    const found = [...clean].flatMap(([locale, own]) =>
      [...own]
        .filter(([key]) => !witnessed.get(locale)?.has(key))
        .filter(([key, name]) => hasWitnessElsewhere(locale, key, name, court))
        .map(([key, name]) => ({ locale, key, name })),
    );
    for (const { locale, key, name } of found)
      witnessed.get(locale)?.set(key, { name, witness: "locale" });
  }
  return court;
}
