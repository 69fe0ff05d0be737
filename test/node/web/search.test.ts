import { describe, expect, it } from "vitest";
import { cityNames, rankPlaces } from "../../../scripts/city-ranks.ts";
import { packCatalog, unpackCatalog } from "../../../src/web/explorer/catalog.ts";
import { placeContext } from "../../../src/web/explorer/places.ts";
import { readRanks } from "../../../src/web/explorer/ranks.ts";
import {
  addCityNames,
  createSearchIndex,
  listPlaces,
  search,
  SEARCH_LIMIT,
} from "../../../src/web/explorer/search.ts";
import { aLocationsResponse } from "../../builders/locations-response.ts";
import { snapshotResponse } from "../../builders/snapshot-response.ts";

/** Searches an answer whose names are in a locale, and says what is found. */
async function finder(answer = aLocationsResponse(), locale = "en") {
  const ranks = readRanks(rankPlaces());
  const catalog = await unpackCatalog(packCatalog(answer, ranks));
  const names = new Intl.DisplayNames([locale], { type: "region" });
  const countryName = (code: string) => names.of(code) ?? code;
  const index = createSearchIndex(catalog, { ranks, countryName });
  addCityNames(index, cityNames());
  const places = listPlaces(catalog);
  return (typed: string) =>
    search(index, typed).map((position) => {
      const place = places[position];
      if (place === undefined) throw new Error(`no place ${position}`);
      const name = place.kind === "airport" ? place.iata : place.name;
      return `${place.kind} ${name} (${placeContext(place)})`;
    });
}

const inSmall = await finder();
const inEnglish = await finder(snapshotResponse());

describe("a search of the catalog", () => {
  it("finds countries by code and by either name", () => {
    for (const typed of ["it", "ITA", "Italy", "italia"])
      expect(inSmall(typed)[0]).toMatch(/^country Italy/);
  });

  it("ignores accents", () => {
    expect(inSmall("zurich")).toHaveLength(3);
    expect(inSmall("ZÜRICH")).toEqual(inSmall("zurich"));
  });

  it("finds words in any order", () => {
    expect(inSmall("airport milan")).toEqual(["airport LIN (Milan, Italy)"]);
  });

  it("finds nothing for an empty text or for marks alone", () => {
    for (const typed of ["", "  ", "-", "’"]) expect(inSmall(typed)).toEqual([]);
  });

  it("matches letters only at the beginning of a word", () => {
    expect(inSmall("ric")).toEqual([]);
  });

  it("lists a bounded number of places", () => {
    expect(inEnglish("airport")).toHaveLength(SEARCH_LIMIT);
  });
});

describe("a search of all places of the world", () => {
  it.each([
    ["zrh", "airport ZRH (Zurich, Switzerland)"],
    ["LSZH", "airport ZRH (Zurich, Switzerland)"],
    ["london", "city London (England, United Kingdom)"],
    ["london canada", "city London (Ontario, Canada)"],
    ["new york", "city New York (United States)"],
    ["nyc", "city New York (United States)"],
    ["LON", "city London (England, United Kingdom)"],
    ["uk", "country United Kingdom (GBR)"],
    ["CDG airport", "airport CDG (Paris, France)"],
    ["heathrow", "airport LHR (London, United Kingdom)"],
    ["bavaria", "region Bavaria (13 airports)"],
    ["Zurch", "city Zurich (Zürich, Switzerland)"],
    ["Frankfrut", "city Frankfurt (Hesse, Germany)"],
    ["barcelna airport", "airport BCN (Barcelona, Spain)"],
    ["kiev", "city Kyiv (Kyiv Oblast, Ukraine)"],
    ["peking", "city Beijing (China)"],
    ["münchen", "city Munich (Bavaria, Germany)"],
    ["mailand", "city Milan (Lombardy, Italy)"],
    ["москва", "city Moscow (Moscow Oblast, Russia)"],
    ["北京", "city Beijing (China)"],
  ])("finds %s first as %s", (typed, expected) => {
    expect(inEnglish(typed)[0]).toBe(expected);
  });

  it("lists the airports of a metropolis next, those with scheduled service first", () => {
    const airports = inEnglish("nyc").filter((found) => found.startsWith("airport"));
    expect(
      airports
        .slice(0, 2)
        .map((found) => found.slice(8, 11))
        .toSorted(),
    ).toEqual(["EWR", "JFK"]);
  });

  it("finds places by their names in the language of the answer and in English", async () => {
    const inGerman = await finder(snapshotResponse("de"), "de");
    for (const typed of ["bayern", "bavaria"]) expect(inGerman(typed)[0]).toMatch(/^region Bayern/);
    expect(inGerman("Vereinigtes Königreich")[0]).toMatch(/^country United Kingdom/);
  });

  it("tolerates typos only if it finds nothing without them", () => {
    expect(inEnglish("paris").every((found) => /pari|France|Texas|United/i.test(found))).toBe(true);
    expect(inEnglish("qqqq")).toEqual([]);
  });
});
