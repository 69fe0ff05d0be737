/** What the service suggests, beside what the package finds. */
import { isDeepStrictEqual } from "node:util";
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

/**
 * The build looks at folded texts, and at the ends of words: few beginnings lead elsewhere. Most of them
 * are kana, which the package also reads in Latin letters.
 */
const OTHERS_MAX = 0.04 * TYPED_IN_EACH;

describe.each(SCRIPTS)("for what is typed in the script %s", (script) => {
  it.each(["en", "de", "ja"])(
    "the service suggests in %s what the package finds first, in its order",
    async (locale) => {
      const file = cities.get(locale);
      const inLocale = await openFrom({ served, names, locale, ...(file && { cities: file }) });
      const others: string[] = [];
      let [suggested, found] = [0, 0];
      for (const text of typedIn(script)) {
        const { suggestions } = await suggester.suggest({ typed: text, locale, limit: HITS_MAX });
        // The order is that in English. The package's guesses follow its matches.
        const first = await (await finder).search(text, { limit: HITS_MAX });
        const expected = await Promise.all(
          first.slice(0, suggestions.length).map(async ({ matched, ...one }) => ({
            ...(await inLocale.get(one.id)),
            matched: locale === "en" ? matched : [],
            isUnderCity: one.isUnderCity,
            ...(one.replaces && { replaces: one.replaces }),
            ...(one.near && { near: one.near }),
          })),
        );
        const compared = suggestions.map((one) =>
          locale === "en" ? one : { ...one, matched: [] },
        );
        if (!isDeepStrictEqual(compared, expected)) others.push(text);
        suggested += Number(suggestions.length > 0);
        found += Number(first.some(({ isPartial }) => !isPartial));
      }
      expect(others.length, others.join()).toBeLessThanOrEqual(OTHERS_MAX);
      // Most texts that get no suggestion are too short.
      expect(suggested).toBeGreaterThan(0.75 * found);
    },
  );
});
