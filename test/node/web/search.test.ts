import { describe, expect, it } from "vitest";
import { indexCatalog } from "../../../src/web/explorer/catalog-index.ts";
import { placeName } from "../../../src/web/explorer/places.ts";
import { createSearchIndex, SEARCH_LIMIT, searchPlaces } from "../../../src/web/explorer/search.ts";
import { aCatalog, aCity, anAirport, aRegion } from "../../builders/catalog.ts";
import { aLocationsResponse } from "../../builders/locations-response.ts";

const catalog = indexCatalog(aLocationsResponse());
const index = createSearchIndex(catalog);

function found(typed: string): string[] {
  return searchPlaces(index, typed).map((place) => `${place.kind} ${placeName(place)}`);
}

describe("searching the catalog", () => {
  it("finds an airport by its whole code before all else", () => {
    expect(found("zrh")[0]).toBe("airport ZRH Airport");
    expect(found("LSZH")).toEqual(["airport ZRH Airport"]);
  });

  it("finds countries by code and by either name", () => {
    for (const typed of ["it", "ITA", "Italy", "italia"])
      expect(found(typed)[0]).toBe("country Italy");
  });

  it("needs no accents", () => {
    expect(found("zurich")).toEqual(["region Zürich", "city Zürich", "airport ZRH Airport"]);
    expect(found("ZÜRICH")).toEqual(found("zurich"));
  });

  it("finds words in any order", () => {
    expect(found("airport milan")).toEqual(["airport LIN Airport"]);
  });

  it("finds a localized name and the English one", () => {
    const names = new Map([["m49:150", { name: "Европа", slug: "evropa" }]]);
    const russian = createSearchIndex(indexCatalog(aLocationsResponse(aCatalog(), names)));
    for (const typed of ["европа", "europe", "evropa"])
      expect(searchPlaces(russian, typed).map(placeName)).toEqual(["Европа"]);
  });

  it("finds nothing for nothing, and nothing for marks alone", () => {
    for (const typed of ["", "  ", "-", "’"]) expect(found(typed)).toEqual([]);
  });

  it("does not take two letters for a part of every word", () => {
    expect(found("ri")).toEqual([]);
    expect(found("ric")).toContain("city Zürich");
  });

  it("lists no more than people read", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const airports = Array.from(letters).flatMap((a) =>
      ["A", "B"].map((b) => anAirport({ iata: `X${a}${b}` })),
    );
    const many = aCatalog({
      airports,
      cities: [aCity()],
      regions: [aRegion({ airportIataCodes: airports.map(({ iata }) => iata) })],
    });
    const large = createSearchIndex(indexCatalog(aLocationsResponse(many)));
    expect(searchPlaces(large, "airport")).toHaveLength(SEARCH_LIMIT);
  });
});
