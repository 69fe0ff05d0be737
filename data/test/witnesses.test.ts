/** The names of regions in languages: each has a witness, and the witnesses tell regions apart. */
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, it } from "vitest";
import { readAirports } from "../build/airports.ts";
import { readCurated } from "../build/curated.ts";
import { readEvidence } from "../build/evidence.ts";
import { readAllNames } from "../build/names.ts";
import { buildRegions, buildSpareRegions, readRegionRows } from "../build/regions.ts";
import { readManifest, readSnapshotTable } from "../build/snapshot-reader.ts";
import { readVerdicts, WITNESS_LETTERS } from "../build/verdicts.ts";
import {
  findWitnesses,
  hasWitnessElsewhere,
  RegionForms,
  type Witnesses,
} from "../build/witnesses.ts";

/** Names that were once served: `other` are those of other places, `cut` lack a part or have another blemish. */
const WRONG = parse<{ locale: string; key: string; name: string; kind: "other" | "cut" }>(
  readFileSync(new URL("names-wrong.csv", import.meta.url)),
  { columns: true },
);
const locales = readManifest()
  .locales.map(({ locale }) => locale)
  .filter((locale) => locale !== "en");
const namesOf = new Map(
  locales.map((locale) => [
    locale,
    new Map(
      readSnapshotTable(`names/${locale}.json.gz`).map(({ key = "", name = "" }) => [key, name]),
    ),
  ]),
);

it("serves none of the names that were found to be wrong", () => {
  const served = WRONG.filter(({ locale, key, name, kind }) => {
    const own = namesOf.get(locale)?.get(key) ?? "";
    return own === name || (kind === "other" && own.includes(name));
  });
  expect(served).toEqual([]);
});

it("serves no name of a subdivision with digits, or with Latin letters where others have none", () => {
  const served = [...namesOf].flatMap(([locale, names]) => {
    const own = [...names].filter(([key]) => key.startsWith("iso3166-2:"));
    const latin = own.filter(([, name]) => /\p{Script=Latin}{2}/u.test(name));
    const digits = own.filter(([, name]) => /\p{Nd}/u.test(name));
    return [...digits, ...(latin.length * 2 > own.length ? [] : latin)].map(([, name]) => [
      locale,
      name,
    ]);
  });
  expect(served).toEqual([]);
});

describe("witnesses.json.gz", () => {
  const verdicts = readVerdicts();
  const { files } = readManifest();
  const witnessesOf = (locale: string): [key: string, letter: string][] =>
    [...(namesOf.get(locale)?.keys() ?? [])].map((key, at) => [
      key,
      verdicts[locale]?.witnesses[at] ?? "",
    ]);

  it.each(locales)("has a witness of each name in %s", (locale) => {
    expect(verdicts[locale]?.names).toBe(files[`names/${locale}.json.gz`]?.content_sha256);
    expect(verdicts[locale]?.witnesses).toHaveLength(namesOf.get(locale)?.size ?? 0);
    expect(verdicts[locale]?.witnesses).toMatch(/^[vsclfg]+$/u);
  });

  it("says that names are confirmed that the table has, in Chinese in either script", () => {
    const rows = readCurated<"locale" | "code">("confirmed-names");
    const listed = new Set(rows.map(({ locale, code }) => `${locale} iso3166-2:${code}`));
    const unlisted = locales.flatMap((locale) =>
      witnessesOf(locale).filter(
        ([key, letter]) =>
          letter === WITNESS_LETTERS.confirmed &&
          !listed.has(`${locale} ${key}`) &&
          !(/^(?:zh|yue)/u.test(locale) && listed.has(`zh ${key}`)),
      ),
    );
    expect(unlisted).toEqual([]);
  });
});

describe("findWitnesses", () => {
  /** Of several scripts and families, with the wrong names of many kinds. */
  const JUDGED = ["ar", "bn", "de", "el", "gu", "hi", "ko", "ru", "si", "th", "uz", "yue"];
  const STEP = 5;
  let world: Witnesses;
  let forms: RegionForms;
  let keys: string[];

  beforeAll(async () => {
    const { airports, newest } = readAirports();
    const rows = readRegionRows();
    const regions = buildRegions(airports, rows);
    const everywhere = [...regions, ...buildSpareRegions(regions, newest, rows)];
    const evidence = await readEvidence(everywhere, rows);
    const names = new Map(
      [...readAllNames(everywhere)].filter(([locale]) => JUDGED.includes(locale)),
    );
    world = findWitnesses(names, evidence);
    forms = new RegionForms(evidence);
    keys = everywhere.map(({ key }) => key).filter((key) => key.startsWith("iso3166-2:"));
  });

  it("finds none for names of other places", () => {
    const believed = WRONG.filter(
      ({ locale, key, name, kind }) =>
        kind === "other" && world.witnessed.get(locale)?.get(key)?.name.includes(name),
    );
    expect(believed).toEqual([]);
  });

  it.each(JUDGED)("finds one for most of the names in %s", (locale) => {
    const share = (world.witnessed.get(locale)?.size ?? 0) / (world.names.get(locale)?.size ?? 0);
    expect(share).toBeGreaterThan(locale === "yue" || locale === "th" ? 0.85 : 0.94);
  });

  it("finds one for at most 0.5 % of names that are given to another region, near or far", () => {
    const given = { all: 0, believed: 0 };
    for (const [locale, names] of world.names) {
      const judge = world.judges.get(locale);
      for (const [at, key] of keys.entries()) {
        const name = names.get(key);
        if (name === undefined || at % STEP > 0) continue;
        const country = keys.filter((one) => one.slice(0, 12) === key.slice(0, 12));
        const near = country[(country.indexOf(key) + 3) % country.length];
        const far = keys[(at + 997) % keys.length];
        for (const other of [near, far]) {
          if (other === undefined || forms.own(other).meaning === forms.own(key).meaning) continue;
          given.all++;
          if (
            judge?.heard(name, other) !== undefined ||
            judge?.isCity(name, other) === true ||
            hasWitnessElsewhere(locale, other, name, world)
          )
            given.believed++;
        }
      }
    }
    expect(given.all).toBeGreaterThan(5_000);
    expect(given.believed / given.all).toBeLessThan(0.005);
  });
});
