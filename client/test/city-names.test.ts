import { expect, it } from "vitest";
import { cityNameLocale, isCityNamesFile, readCityNames } from "../src/search/city-names.ts";

it.each([
  ["de", "de"],
  ["de-CH", "de"],
  ["pt_BR", "pt"],
  ["nb-NO", "no"],
  ["zh-TW", "zh-Hant"],
  ["zh-SG", "zh"],
  ["sr-Latn-RS", "sr-Latn"],
  ["sr", "sr"],
  ["yue-CN", "yue-Hans"],
  ["en-GB", undefined],
  ["tlh", undefined],
  ["", undefined],
  ["*", undefined],
])("readers of %s have the names of cities of %s", (tag, locale) => {
  expect(cityNameLocale(tag)).toBe(locale);
});

it("names cities by the code of an airport", () => {
  const names = readCityNames({ airports: "MUCFCO", names: "München|Rom" });
  expect([...names]).toEqual([
    ["MUC", "München"],
    ["FCO", "Rom"],
  ]);
  expect(readCityNames(undefined).size).toBe(0);
});

it.each([null, [], { airports: "MUC" }, { airports: ["MUC"], names: "München" }])(
  "%j is no file of names",
  (file) => expect(isCityNamesFile(file)).toBe(false),
);
