import { expect, it } from "vitest";
import type { AirportPlace } from "../src/catalog.ts";
import { readKana } from "../src/search/kana.ts";
import { snapshotFinder } from "../../test/builders/catalog-finder.ts";
import { otherNames } from "../../web/build/search-files.ts";

const { catalog, find } = await snapshotFinder();
const names = otherNames();

/** Names of an airport and its city in a script. */
function namesIn(script: RegExp, { iata, city }: AirportPlace): string[] {
  const columns = [names.airports[iata], names.local?.[iata], names.cities[city.id]];
  return columns.flatMap((column) => column?.split("|") ?? []).filter((name) => script.test(name));
}

it.each([
  ["TH", /^\p{Script=Thai}+$/u],
  ["GR", /^[\p{Script=Greek} ]+$/u],
  ["GE", /^[\p{Script=Georgian} ]+$/u],
  ["SA", /^[\p{Script=Arabic} ]+$/u],
  ["JP", /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u],
  ["KR", /^[\p{Script=Hangul} ]+$/u],
  ["CN", /^\p{Script=Han}+$/u],
])("finds nine of ten airports in %s by a name in the country's script", (country, script) => {
  const served = catalog.airports.filter(
    ({ city, hasScheduledService }) => hasScheduledService && city.country.code === country,
  );
  const found = served.filter((airport) =>
    namesIn(script, airport).some((name) =>
      find(name).some(({ place }) => place.id === airport.id),
    ),
  );
  expect(served.length).toBeGreaterThan(3);
  expect(found.length / served.length).toBeGreaterThanOrEqual(0.9);
});

it.each([
  ["はねだ", "HND"],
  ["ハネダ", "HND"],
  ["おおさか", "KIX"],
  ["とうきょう", "HND"],
  ["きょうとくうこう", "ITM"],
  ["ちとせ", "CTS"],
  ["いしがき", "ISG"],
])("finds %s, which is in kana, as %s", (typed, iata) => {
  const found = find(typed).slice(0, 4);
  expect(found.map(({ place }) => place.kind === "airport" && place.iata)).toContain(iata);
});

it("reads kana with long vowels short", () => {
  const read = ["しょうない", "ちゅうぶ", "さっぽろ", "じゃかるた", "大阪", "Osaka"].map(readKana);
  expect(read).toEqual(["shonai", "chubu", "sapporo", "jakaruta", undefined, undefined]);
});
