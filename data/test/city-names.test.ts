import { brotliCompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { CITY_NAME_LOCALES, readCityNames } from "../../client/src/search/city-names.ts";
import { cityNames } from "../../web/build/search-files.ts";
import manifest from "../snapshot/manifest.json" with { type: "json" };

const MAX_BYTES = 6_000;
const files = cityNames();

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
