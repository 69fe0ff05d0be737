import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UuidSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { indexCatalog, uuidText } from "../../../src/web/explorer/catalog-index.ts";
import { findPlace, selectionOf } from "../../../src/web/explorer/places.ts";
import { aLocationsResponse } from "../../builders/locations-response.ts";

const catalog = indexCatalog(aLocationsResponse());

describe("the joined catalog", () => {
  it("leads from an airport to its city, country and regions, smallest first", () => {
    const zurich = catalog.airportByIata.get("ZRH");
    expect(zurich?.city.city.name).toBe("Zürich");
    expect(zurich?.city.country.country.isoCode2).toBe("CH");
    expect(zurich?.regions.map(({ region }) => region.slug)).toEqual(["zurich-ch", "europe"]);
  });

  it("leads back to the airports", () => {
    const codes = catalog.regionBySlug.get("europe")?.airports.map(({ airport }) => airport.iata);
    expect(codes).toEqual(["LIN", "ZRH"]);
    expect(catalog.countryByCode.get("IT")?.airports).toHaveLength(1);
    expect(catalog.countryByCode.get("CH")?.regions).toHaveLength(2);
  });

  it("finds each place by what a link calls it", () => {
    const { airports, cities, countries, regions } = catalog;
    const places = [...airports, ...cities, ...countries, ...regions];
    for (const place of places) expect(findPlace(catalog, selectionOf(place))).toBe(place);
  });

  it("refuses an answer whose references do not resolve", () => {
    const answer = aLocationsResponse();
    answer.cities.pop();
    expect(() => indexCatalog(answer)).toThrow("names no city of");
  });

  it("writes ids as UUIDs", () => {
    const value = Uint8Array.from({ length: 16 }, (_, index) => index);
    expect(uuidText(create(UuidSchema, { value }))).toBe("00010203-0405-0607-0809-0a0b0c0d0e0f");
    expect(uuidText(undefined)).toBe("");
  });
});
