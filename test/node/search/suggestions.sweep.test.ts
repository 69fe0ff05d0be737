/** What the service suggests, beside what the package finds. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFrom } from "../../../client/src/picker.ts";
import { HITS_MAX } from "../../../src/search/shard.ts";
import { Suggester } from "../../../src/search/suggester.ts";
import { readerOf, searchAssets } from "../../builders/search-assets.ts";
import { cityNames, otherNames, servedPlaces } from "../../../web/build/search-files.ts";

const SEED = 64;
const SCRIPTS = "Latin Cyrillic Han Katakana Hangul Arabic Greek Hebrew Thai Devanagari".split(" ");
const TYPED_IN_EACH = 200;

const [served, names, cities] = [servedPlaces(), otherNames(), cityNames()];
const suggester = new Suggester(readerOf(await searchAssets()));

/** Names in all languages, as they are found and as readers write them, and codes. */
const texts = [
  served.airports.names.map((name) => name.replace("*", "")),
  served.cities.names,
  served.countries.flat(),
  served.airports.iata.match(/.../g) ?? [],
  served.airports.icao.split(" "),
  ...[names.airports, names.cities, names.local ?? {}].map((file) =>
    Object.values(file).flatMap((column) => column.split("|")),
  ),
  ...[...cities.values()].map((file) => file.names.split("|")),
].flat();

/** Seeded beginnings of names. */
function typedIn(script: string): string[] {
  const own = texts.filter((text) => new RegExp(`\\p{Script=${script}}`, "u").test(text));
  const beginning = fc
    .tuple(fc.constantFrom(...own), fc.integer({ min: 1, max: 12 }))
    .map(([text, length]) => Array.from(text).slice(0, length).join(""));
  return fc.sample(beginning, { seed: SEED, numRuns: TYPED_IN_EACH });
}

const finder = openFrom({ served, names });

describe.each(SCRIPTS)("for what is typed in the script %s", (script) => {
  it("the service marks what was typed as the package does", async () => {
    for (const text of typedIn(script)) {
      const { suggestions } = await suggester.suggest({ typed: text, locale: "en", limit: 1 });
      const found = await (await finder).search(text, { limit: suggestions.length || 1 });
      expect(suggestions, text).toEqual(found.slice(0, suggestions.length));
    }
  });

  it.each(["en", "de", "ja"])(
    "the service suggests in %s what the package finds first, in its order",
    async (locale) => {
      const file = cities.get(locale);
      const inLocale = await openFrom({ served, names, locale, ...(file && { cities: file }) });
      let [suggested, first] = [0, 0];
      for (const text of typedIn(script)) {
        const { suggestions } = await suggester.suggest({ typed: text, locale, limit: HITS_MAX });
        // The order is that in English. What the package forgives follows what it finds as it is typed.
        const found = await (await finder).search(text, { limit: HITS_MAX });
        const expected = await Promise.all(
          found.slice(0, suggestions.length).map(async ({ id, ...one }) => ({
            ...(await inLocale.get(id)),
            isUnderCity: one.isUnderCity,
            ...(one.replaces && { replaces: one.replaces }),
            ...(one.near && { near: one.near }),
          })),
        );
        const unmarked = suggestions.map((one) => ({ ...one, matched: [] }));
        expect(unmarked, text).toEqual(expected);
        suggested += Number(suggestions.length > 0);
        first += Number(found.length > 0);
      }
      // Most of what is not suggested is the beginning of a name too short to tell it.
      expect(suggested).toBeGreaterThan(0.8 * first);
    },
  );
});
