import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { locales } from "../../../data/snapshot/manifest.json";
import type { LocalizedName } from "../../../src/catalog/model.ts";
import { packNames, type PackedNames, unpackNames } from "../../../src/catalog/packed-names.ts";
import { LETTERS, spellingOf } from "../../../src/catalog/spellings.ts";
import { fuzzed } from "../../builders/fuzzed.ts";
import { snapshotResponse } from "../../builders/snapshot-response.ts";

const REGIONS = [
  { name: "Europe", slug: "europe" },
  { name: "Moscow Oblast", slug: "moscow-oblast-ru" },
  { name: "Zürich", slug: "zurich-ch" },
];

/** Packs the names and slugs of the regions, and checks that they come back. */
function packed(locale: string, texts: readonly (readonly [string, string])[]): PackedNames {
  const names = texts.map(([name, slug]): LocalizedName => ({ name, slug }));
  const found = packNames({
    regions: REGIONS,
    names,
    spelling: [...spellingOf(locale), ...LETTERS],
  });
  expect(unpackNames(REGIONS, found)).toEqual(names);
  return found;
}

describe("packed names", () => {
  it("have no slug that follows from the name by the language's spelling", () => {
    const russian = packed("ru", [
      ["Европа", "evropa"],
      ["Московская область", "moskovskaya-oblast-ru"],
      ["Цюрих", "tsyurikh-ch"],
    ]);
    expect(russian.slugs).toEqual({});
    expect(Object.fromEntries(russian.letters)).toMatchObject({ х: "kh", ц: "ts", ь: "" });
    const german = packed("de-AT", [
      ["Europa", "europa"],
      ["Oblast Moskau", "oblast-moskau-ru"],
      ["Zürich-Land", "zuerich-land-ch"],
    ]);
    expect(german).toEqual({
      letters: [["ü", "ue"]],
      names: ["Europa", "Oblast Moskau", "Zürich-Land"],
      slugs: {},
    });
  });

  it("have neither a name nor a slug that is as in English", () => {
    const french = packed("fr", [
      ["Europe", "europe"],
      ["Oblast de Moscou", "oblast-de-moscou-ru"],
      ["Zürich", "zurich-ch"],
    ]);
    expect(french).toEqual({ letters: [], names: ["", "Oblast de Moscou", ""], slugs: {} });
  });

  it("have the base slug where a script has no transliteration", () => {
    const japanese = packed("ja", [
      ["ヨーロッパ", "europe"],
      ["モスクワ州", "moscow-oblast-ru"],
      ["チューリッヒ州 (ZH)", "zurich-ch"],
    ]);
    expect(japanese.slugs).toEqual({});
  });

  it("name each other slug", () => {
    const ukrainian = packed("uk", [
      ["Європа (Старий Світ)", "yevropa"],
      ["Об’єднана область", "obyednana-oblast-ru"],
      ["Цюрих", "zurich-ch"],
    ]);
    expect(ukrainian.slugs).toEqual({ 0: "yevropa", 2: "zurich-ch" });
  });

  it("come back whatever they are", () => {
    const name = fc.record({ name: fc.string({ unit: "grapheme" }), slug: fc.string() });
    const region = fc.tuple(name, name, fc.boolean());
    const locale = fc.constantFrom("de", "el", "ja", "ru");
    fc.assert(
      fc.property(fc.array(region), locale, (list, tag) => {
        const regions = list.map(([english]) => english);
        const names = list.map(([english, { name: own, slug }, isSame]) =>
          isSame ? english : { name: own || english.name, slug },
        );
        const found = packNames({ regions, names, spelling: [...spellingOf(tag), ...LETTERS] });
        expect(unpackNames(regions, JSON.parse(JSON.stringify(found)))).toEqual(names);
      }),
      fuzzed(300),
    );
  });

  it.each(locales.map(({ locale }) => locale))(
    "leave few slugs of the snapshot in %s",
    (locale) => {
      const { regions } = snapshotResponse(locale);
      const names = regions.map(({ nameLocalized, slugLocalized }) => ({
        name: nameLocalized,
        slug: slugLocalized,
      }));
      const found = packNames({ regions, names, spelling: [...spellingOf(locale), ...LETTERS] });
      expect(unpackNames(regions, found)).toEqual(names);
      expect(Object.keys(found.slugs).length).toBeLessThan(regions.length / 20);
    },
  );
});
