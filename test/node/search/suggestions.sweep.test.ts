/** What the service suggests beside what the package finds, which it is made of. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { openFrom } from "../../../client/src/picker.ts";
import { HITS_MAX } from "../../../src/search/shard.ts";
import { Suggester } from "../../../src/search/suggester.ts";
import { readerOf, searchAssets } from "../../builders/search-assets.ts";
import { cityNames, otherNames, servedPlaces } from "../../../web/build/search-files.ts";

const SEED = 64;
const TYPED = 2_000;
const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Han",
  "Katakana",
  "Hangul",
  "Arabic",
  "Greek",
  "Hebrew",
  "Thai",
];

const [served, names, cities] = [servedPlaces(), otherNames(), cityNames()];
const suggester = new Suggester(readerOf(await searchAssets()));

/** Names in all languages, as they are found and as readers write them. */
const texts = [
  served.airports.names.map((name) => name.replace("*", "")),
  served.cities.names,
  served.countries.flatMap(([, code = "", code3 = "", name = "", native = ""]) => [
    code,
    code3,
    name,
    native,
  ]),
  served.airports.iata.match(/.../g) ?? [],
  served.airports.icao.split(" "),
  ...[names.airports, names.cities, names.local ?? {}].map((file) =>
    Object.values(file).flatMap((column) => column.split("|")),
  ),
  ...[...cities.values()].map((file) => file.names.split("|")),
].flat();

/** Beginnings of names in each script, seeded. */
const typed = SCRIPTS.flatMap((script) => {
  const own = texts.filter((text) => new RegExp(`\\p{Script=${script}}`, "u").test(text));
  const beginning = fc
    .tuple(fc.constantFrom(...own), fc.nat({ max: 11 }))
    .map(([text, more]) => [...text].slice(0, 1 + more).join(""));
  return fc.sample(beginning, { seed: SEED, numRuns: TYPED / SCRIPTS.length });
});

it.each(["en", "de", "ja", "ru"])(
  "what is suggested in %s is what the package finds first, in its order",
  async (locale) => {
    const file = cities.get(locale);
    // The order is that in English, with the names of the locale.
    const finder = await openFrom({ served, names });
    const inLocale = await openFrom({ served, names, locale, ...(file && { cities: file }) });
    let suggested = 0;
    for (const text of new Set(typed)) {
      const { suggestions } = await suggester.suggest({ typed: text, locale, limit: HITS_MAX });
      const found = (await finder.search(text, { limit: HITS_MAX })).slice(0, suggestions.length);
      const expected = await Promise.all(
        found.map(async ({ id, isUnderCity, replaces, near }) => ({
          ...(await inLocale.get(id)),
          isUnderCity,
          ...(replaces && { replaces }),
          ...(near && { near }),
        })),
      );
      expect(
        suggestions.map((one) => ({ ...one, matched: [] })),
        text,
      ).toEqual(expected);
      suggested += suggestions.length;
    }
    expect(suggested).toBeGreaterThan(2 * TYPED);
  },
);
