import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Place } from "../src/catalog.ts";
import { catalogFinder } from "../../test/builders/catalog-finder.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";

/**
 * What a traveller types, and expects among the first three results; `!` before the first, `-` if
 * there is no such place: nothing, or a guess.
 */
interface Case {
  readonly query: string;
  readonly locale: string;
  readonly wanted: string;
}

function readCases(name: string): Case[] {
  const [, ...rows] = readFileSync(`test/cases/${name}`, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return rows.map((row) => {
    const [query = "", locale = "", wanted = ""] = row.split("\t");
    return { query, locale, wanted };
  });
}

function nameOf(place: Place): string {
  switch (place.kind) {
    case "airport":
      return place.iata;
    case "city":
      return `city ${place.name} ${place.country.code}`;
    case "country":
      return `country ${place.code}`;
    case "region":
      return `region ${place.name}`;
    default:
      return place satisfies never;
  }
}

const FILES = [
  "search.tsv",
  "search-more.tsv",
  "search-unseen.tsv",
  "search-second.tsv",
  "search-spoken.tsv",
];

const cases = FILES.flatMap(readCases);
const locales = [...new Set(cases.map(({ locale }) => locale))];

it.each(locales)("finds what a traveller types in %s", async (locale) => {
  const find = await catalogFinder(snapshotResponse(locale), locale);
  const missed = cases
    .filter((one) => one.locale === locale)
    .flatMap(({ query, wanted }) => {
      const found = find(query)
        .slice(0, 3)
        .map(({ place, isPartial }) => (wanted === "-" && isPartial ? "-" : nameOf(place)));
      if (found.length === 0) found.push("-");
      return wanted
        .split(";")
        .filter((item) =>
          item.startsWith("!") ? item.slice(1) !== found[0] : !found.includes(item),
        )
        .map((item) => `${query}: ${item} is not in ${found.join("; ")}`);
    });
  expect(missed).toEqual([]);
});
