import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { codeOfRegion, subdivisionKey } from "./catalog-region.ts";
import { inBothScripts } from "./chinese.ts";
import { readCurated } from "./curated.ts";

/** What was decided of one of CLDR's names. */
export type Verdict = "taken" | "refused";

/** A name of a region in a locale. */
export interface RegionName {
  readonly locale: string;
  readonly key: string;
  readonly name: string;
}

/** Verdicts on names exactly as CLDR writes them: of people, and of a program that learned from all names. */
export interface Verdicts {
  readonly locales: readonly string[];
  /** Undefined if the tables do not have the name. */
  readonly of: (name: RegionName) => Verdict | undefined;
  /** What travellers say for a name, where no rule finds it. */
  readonly plainOf: (name: RegionName) => string | undefined;
  /** The names that have rows, by the curated table. */
  readonly rows: ReadonlyMap<string, readonly RegionName[]>;
}

/** What the program took: a row for each subdivision, a column for each locale. */
const TAKEN_NAMES = new URL("../taken-names.csv.gz", import.meta.url);

/** Locales whose names are Chinese, in either script. */
const CHINESE = /^(?:zh|yue)/u;

/**
 * Reads the verdicts on names.
 *
 * @throws Error that names a name with both verdicts.
 */
export function readVerdicts(): Verdicts {
  const text = gunzipSync(readFileSync(TAKEN_NAMES)).toString();
  const table = parse<Readonly<Record<string, string>>>(text, { columns: true });
  const { code: _, english: __, ...locales } = table[0] ?? {};
  const takenNames = new Map(table.map((row) => [subdivisionKey(row["code"] ?? ""), row]));
  const confirmed = readCurated<"locale" | "code" | "name">("confirmed-names").map(nameOf);
  const refused = readCurated<"locale" | "code" | "name">("refused-names").map(nameOf);
  const plain = readCurated<"locale" | "code" | "name" | "plain">("plain-names");
  const confirmedIds = new Set(confirmed.map(describeName));
  const refusedIds = new Set(refused.map(describeName));
  const plainNames = new Map(plain.map((row) => [describeName(nameOf(row)), row.plain]));
  const [both] = confirmedIds.intersection(refusedIds);
  if (both !== undefined)
    throw new Error(`${both} is in confirmed-names.csv and in refused-names.csv`);
  /** A row in Chinese is about both scripts and all locales. */
  const isConfirmed = ({ locale, key, name }: RegionName) =>
    [locale, CHINESE.test(locale) ? "zh" : locale].some((one) =>
      inBothScripts(name).some((written) =>
        confirmedIds.has(describeName({ locale: one, key, name: written })),
      ),
    );
  return {
    locales: Object.keys(locales),
    of: (name) => {
      if (refusedIds.has(describeName(name))) return "refused";
      const isTaken = takenNames.get(name.key)?.[name.locale] === name.name;
      return isTaken || isConfirmed(name) ? "taken" : undefined;
    },
    plainOf: (name) => plainNames.get(describeName(name)),
    rows: new Map([
      ["confirmed-names.csv", confirmed],
      ["refused-names.csv", refused],
      ["plain-names.csv", plain.map(nameOf)],
    ]),
  };
}

function nameOf({ locale, code, name }: Record<"locale" | "code" | "name", string>): RegionName {
  return { locale, key: subdivisionKey(code), name };
}

/** A name as messages have it: `Wien in de of AT-9`. */
export function describeName({ locale, key, name }: RegionName): string {
  return `${name} in ${locale} of ${codeOfRegion(key)}`;
}
