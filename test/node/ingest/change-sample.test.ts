import { describe, expect, it } from "vitest";
import type { CatalogDiff } from "../../../src/catalog/diff.ts";
import { changesSchema } from "../../../src/schemas/diff.ts";
import { CHANGES_LISTED, sampleChanges } from "../../../src/ingest/change-sample.ts";

const ID = "2cb5b4ee-91bd-56b9-8b3e-7d5a3c1a9d11";
const COUNTS = { added: 900, changed: 900, removed: 900 };

/** A diff with so many entities of each kind, in which every text is the same. */
function aDiff(listed: number, text: string, codes: readonly string[]): CatalogDiff {
  const airport = { id: ID, iata: text, icao: text, name: text, lat: 1, lon: 2, city_id: ID };
  const city = { id: ID, name: text, country_id: ID, lat: 1, lon: 2 };
  const names = { iso_code2: text, iso_code3: text, name_eng: text, name_native: text };
  const country = { id: ID, ...names, phone_prefix: text };
  const plain = { id: ID, slug: text, name: text, name_localized: text, slug_localized: text };
  const region = { ...plain, airport_iata_codes: codes };
  const times = <T>(value: T) => Array.from({ length: listed }, () => value);
  const list = <F>(entity: F) => ({
    counts: COUNTS,
    added: times(entity),
    changed: times({ id: ID, label: text, before: entity, after: entity }),
    removed: times(entity),
  });
  const change = { id: ID, label: text, before: plain, after: plain };
  const moved = { ...change, airport_iata_codes: { added: codes, removed: codes } };
  return {
    airports: list(airport),
    cities: list(city),
    countries: list(country),
    regions: { ...list(region), changed: times(moved) },
  };
}

describe("sampleChanges", () => {
  it("keeps a diff that is short as it is, and says in which locale it was made", () => {
    const diff = aDiff(2, "Zürich", ["ZRH"]);
    expect(sampleChanges(diff, "de")).toEqual({ locale: "de", ...diff });
  });

  it.each([
    ["long", "X".repeat(250_000)],
    ["of several bytes a letter", "字".repeat(250_000)],
    ["to be escaped", "\u0001".repeat(250_000)],
  ])(
    "fits into a row with the run even if texts are %s and regions have all airports",
    (_, text) => {
      const codes = Array.from({ length: 9_000 }, () => "ZRH");
      const sample = sampleChanges(aDiff(CHANGES_LISTED, text, codes), "en");
      expect(Buffer.byteLength(JSON.stringify(sample))).toBeLessThan(500_000);
      expect(changesSchema.safeParse(sample).error).toBeUndefined();
      expect(sample.airports.added[0]?.name).toBe(`${text.slice(0, 80)}…`);
      expect(sample.regions.removed[0]?.airport_iata_codes).toHaveLength(20);
      expect(sample.regions.changed[0]?.airport_iata_codes?.added).toHaveLength(20);
    },
  );
});
