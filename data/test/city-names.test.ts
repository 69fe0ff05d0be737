import { brotliCompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { CITY_NAME_LOCALES, readCityNames } from "../../client/src/search/city-names.ts";
import { cityNames } from "../../web/build/search-files.ts";
import { readTable } from "../../web/build/snapshot-table.ts";
import { localesOf } from "../build/city-name-sources.ts";
import { TWO_VOWELS, wellFormed } from "../build/name-forms.ts";
import { makeSounds } from "../build/sound.ts";
import manifest from "../snapshot/manifest.json" with { type: "json" };

const MAX_BYTES = 6_000;
const files = cityNames();
const table = readTable("city-names.csv.gz");
const countries = new Map(
  readTable("snapshot/cities.csv.gz").map(({ key, country = "" }) => [key, country]),
);

/** Characters that nobody sees, but for the joiners that scripts need within. */
const UNSEEN = /[\u{ad}\u{200b}\u{200e}\u{200f}\u{feff}]|[\u{200c}\u{200d}]$/u;

/** The most names that a reader alone has written. */
const READ_ALONE = 0.15;

it("each name of a city has a source, mostly CLDR or GeoNames", () => {
  const sources = table.flatMap((row) => {
    const letters = row["sources"] ?? "";
    const locales = localesOf(row);
    expect(letters).toHaveLength(locales.length);
    return locales.map((locale, at) => {
      expect(letters.charAt(at) === "-").toBe(row[locale] === "");
      return letters.charAt(at);
    });
  });
  const named = sources.filter((letter) => letter !== "-");
  const read = named.filter((letter) => letter === "r");
  expect(read.length / named.length).toBeLessThan(READ_ALONE);
});

it("no Hebrew name of a city lacks the geresh that its consonants need", () => {
  const wanting: (readonly [letter: RegExp, english: RegExp])[] = [
    [/ג(?!׳)/u, /[gq]/iu],
    [/צ(?!׳)/u, /[zqs]|c(?!h)|t[iy]/iu],
    [/ז(?!׳)/u, /[zsxž]/iu],
  ];
  const soft = table.filter(({ he = "", english = "" }) =>
    wanting.some(([letter, hard]) => letter.test(he) && !hard.test(english.normalize("NFD"))),
  );
  expect(soft.map(({ he, english }) => `${english}: ${he}`)).toEqual([]);
});

it("no name of a city without spaces ends with the word for its kind", () => {
  const kind = /(?:광역시|특별시|特[別别](?:行政[區区]|自治道)|[區区])$/u;
  const long = table.flatMap((row) =>
    localesOf(row).filter((locale) => kind.test(row[locale] ?? "")),
  );
  expect(long).toEqual([]);
});

/** Languages that write foreign names as they hear them. */
const BY_EAR: ReadonlySet<string> = new Set(["az", "lt", "lv", "sr-Latn", "uz"]);
const MARKS = /\p{M}/gu;

it("no name of a city is the English one with fewer marks", () => {
  const bare = (name: string) => name.normalize("NFD").replaceAll(MARKS, "").toLowerCase();
  const marks = (name: string) => name.normalize("NFD").match(MARKS)?.length ?? 0;
  const poorer = table.flatMap(({ english = "", ...row }) =>
    localesOf(row).flatMap((locale) => {
      const name = row[locale] ?? "";
      const isPoorer = bare(name) === bare(english) && marks(name) < marks(english);
      return isPoorer && !BY_EAR.has(locale) ? [`${locale} ${name}`] : [];
    }),
  );
  expect(poorer).toEqual([]);
});

it("the names of cities are in good form", () => {
  const { soundsLike } = makeSounds((name) => name);
  const malformed = table.flatMap((row) => {
    const { geonames = "", english = "" } = row;
    const country = countries.get(`geonames:${geonames}`) ?? "";
    return localesOf(row)
      .filter((locale) => {
        const name = row[locale] ?? "";
        const region = { locale, country, english, isTransliterated: true, soundsLike };
        return wellFormed(name, region) !== name || TWO_VOWELS.test(name) || UNSEEN.test(name);
      })
      .map((locale) => `${locale} ${row[locale] ?? ""}`);
  });
  expect(malformed).toEqual([]);
});

it("each locale of the snapshot but English has names of cities", () => {
  const locales = manifest.locales.map(({ locale }) => locale).filter((one) => one !== "en");
  expect([...files.keys()].toSorted()).toEqual(locales.toSorted());
  expect(CITY_NAME_LOCALES.toSorted()).toEqual(locales.toSorted());
});

it.each([...files])("the names in %s take at most 6 kB, one for each airport", (_, file) => {
  expect(brotliCompressSync(JSON.stringify(file)).length).toBeLessThanOrEqual(MAX_BYTES);
  const { airports, names } = file;
  expect(names.split("|")).toHaveLength(airports.length / 3);
  expect(names).not.toMatch(/\|\||[[\]()]|,|،/u);
});

it.each([
  ["de", "MUC", "München"],
  ["de", "CGN", "Köln"],
  ["ja", "FCO", "ローマ"],
  ["el", "IST", "Κωνσταντινούπολη"],
  ["fr", "LHR", "Londres"],
  ["es", "JFK", "Nueva York"],
  ["ru", "CDG", "Париж"],
  ["zh", "NRT", "东京"],
  ["zh-Hant", "NRT", "東京"],
  ["ar", "CAI", "القاهرة"],
  ["ko", "PEK", "베이징"],
  ["hi", "DEL", "दिल्ली"],
])("in %s the city of %s is %s", (locale, iata, name) => {
  const names = [...readCityNames(files.get(locale)).values()];
  expect(iata).toHaveLength(3);
  expect(names).toContain(name);
});
