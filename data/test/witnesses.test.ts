/** The names of regions in languages: verdicts and witnesses decide which are served. */
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { readAirports } from "../build/airports.ts";
import { readEvidence } from "../build/evidence.ts";
import { readAllNames } from "../build/names.ts";
import { buildRegions, buildSpareRegions, readRegionRows } from "../build/regions.ts";
import { readManifest, readSnapshotTable } from "../build/snapshot-reader.ts";
import { readVerdicts, type RegionName, type Verdict } from "../build/verdicts.ts";
import { type Evidence, findWitnesses } from "../build/witnesses.ts";

/** Names that were once served: `other` are those of other places, `cut` lack a part or have another blemish. */
const WRONG = parse<RegionName & { kind: "other" | "cut" }>(
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

describe("findWitnesses", () => {
  const UPPER: RegionName = { locale: "de", key: "iso3166-2:AT-4", name: "Oberösterreich" };
  const LOWER: RegionName = { ...UPPER, key: "iso3166-2:AT-3" };

  /** Asks about the last of these names; those before it were taken. */
  function ask(
    names: readonly RegionName[],
    evidence: Partial<Evidence> & { readonly asked?: Verdict } = {},
  ): string | undefined {
    const { asked, ...others } = evidence;
    const last = names.at(-1);
    const found = findWitnesses(names, {
      verdict: (name) => (name === last ? asked : "taken"),
      isVetted: () => false,
      regionsOfCity: () => new Set(),
      soundsOwn: () => false,
      ...others,
    });
    return Object.entries(found).findLast(([, those]) => those.includes(last))?.[0];
  }

  it("takes what a table has or CLDR's translators voted for", () => {
    expect(ask([UPPER], { asked: "taken" })).toBe("taken");
    expect(ask([UPPER], { isVetted: () => true })).toBe("taken");
  });

  it("drops what was refused, whatever the witnesses say", () => {
    const regionsOfCity = () => new Set([UPPER.key]);
    expect(ask([UPPER], { asked: "refused", regionsOfCity })).toBeUndefined();
  });

  it("leaves a name to a person that no table and no witness has", () => {
    expect(ask([UPPER])).toBe("undecided");
  });

  it("takes a name that GeoNames has for the city that the region is named after", () => {
    const regionsOfCity = (country: string, name: string) =>
      new Set(country === "AT" && name === UPPER.name ? [UPPER.key] : []);
    expect(ask([UPPER], { regionsOfCity })).toBe("taken");
    expect(ask([LOWER], { regionsOfCity })).toBe("undecided");
  });

  it("takes a name that another language has for the region, but not another locale of the language", () => {
    expect(ask([{ ...UPPER, locale: "no" }, UPPER])).toBe("taken");
    expect(
      ask([
        { ...UPPER, locale: "zh" },
        { ...UPPER, locale: "yue" },
      ]),
    ).toBe("undecided");
  });

  it("contradicts a name that witnesses give to another region of the country only", () => {
    const taken = { asked: "taken" } as const;
    expect(ask([{ ...UPPER, locale: "no" }, LOWER], taken)).toBe("contradicted");
    expect(ask([LOWER], { ...taken, regionsOfCity: () => new Set([UPPER.key]) })).toBe(
      "contradicted",
    );
    expect(ask([{ ...UPPER, locale: "no" }, { ...LOWER, locale: "sv" }, LOWER], taken)).toBe(
      "taken",
    );
  });

  it("contradicts no name that sounds like the region's own, or that CLDR's translators voted for", () => {
    const names = [{ ...UPPER, locale: "no" }, LOWER];
    expect(ask(names, { asked: "taken", soundsOwn: () => true })).toBe("taken");
    expect(ask(names, { isVetted: (name) => name === LOWER })).toBe("taken");
  });
});

describe("the verdicts and witnesses of the snapshot", async () => {
  const { airports, newest } = readAirports();
  const rows = readRegionRows();
  const regions = buildRegions(airports, rows);
  const everywhere = [...regions, ...buildSpareRegions(regions, newest, rows)];
  const verdicts = readVerdicts();
  const evidence = await readEvidence(everywhere, rows, verdicts);
  const names = readAllNames(everywhere, verdicts.locales, () => new Map()).filter(({ key }) =>
    key.startsWith("iso3166-2:"),
  );

  it("are of the locales that are served", () => {
    expect(verdicts.locales).toEqual(locales);
  });

  it("take none of the names that were found to be of other places", () => {
    const others = WRONG.filter(({ kind }) => kind === "other");
    const taken = others.filter(
      (name) =>
        verdicts.of(name) === "taken" && (verdicts.plainOf(name) ?? name.name).includes(name.name),
    );
    expect(taken).toEqual([]);
  });

  it("take no name that is given to another region, near or far", () => {
    const english = new Map(everywhere.map(({ key, bareName }) => [key, bareName]));
    const keys = [...new Set(names.map(({ key }) => key))];
    const byCountry = Map.groupBy(keys, (key) => key.slice(0, "iso3166-2:XX".length));
    const moved = (to: (key: string) => string | undefined): readonly RegionName[] =>
      names.flatMap((name) => {
        const key = to(name.key);
        return key === undefined || english.get(key) === english.get(name.key)
          ? []
          : [{ ...name, key }];
      });
    const near = moved((key) => {
      const country = byCountry.get(key.slice(0, "iso3166-2:XX".length)) ?? [];
      return country[(country.indexOf(key) + 3) % country.length];
    });
    const far = moved((key) => keys[(keys.indexOf(key) + 997) % keys.length]);
    const isNew = (name: RegionName) => verdicts.of(name) === undefined && !evidence.isVetted(name);
    for (const wrong of [near, far]) {
      const asked = new Set(wrong.filter(isNew));
      const found = findWitnesses([...names.filter((name) => !isNew(name)), ...asked], evidence);
      expect(asked.size).toBeGreaterThan(50_000);
      expect(found.taken.filter((name) => asked.has(name))).toEqual([]);
    }
  });
});
