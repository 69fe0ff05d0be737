import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { UuidSchema } from "../../gen/locations/v1/locations_pb.ts";
import { packCatalog, unpackCatalog } from "../../client/src/catalog.ts";
import { uuidText } from "../../client/src/uuid.ts";
import { byImportance, findPlace, nearestAirports, selectionOf } from "../explorer/places.ts";
import { readRanks } from "../../client/src/search/ranks.ts";
import { aLocationsResponse } from "../../test/builders/locations-response.ts";

const ranks = readRanks({
  airports: ["ZRH", "LIN"],
  tiers: "02",
  names: { LIN: "Milan Linate" },
  cities: [],
  codes: { ZRX: uuidText(aLocationsResponse().cities.find(({ name }) => name === "Zürich")?.id) },
});
const catalog = await unpackCatalog(packCatalog(aLocationsResponse(), ranks));
const { airports, cities, countries, regions } = catalog;
const zurich = airports.find(({ iata }) => iata === "ZRH");

describe("the joined catalog", () => {
  it("leads from an airport to its city, its country and its regions, the smallest first", () => {
    expect(zurich?.city.name).toBe("Zürich");
    expect(zurich?.city.country.code).toBe("CH");
    expect(zurich?.regions.map(({ slug }) => slug)).toEqual(["zurich-ch", "europe"]);
  });

  it("leads back to the airports", () => {
    const europe = regions.find(({ slug }) => slug === "europe");
    expect(europe?.airports.map(({ iata }) => iata)).toEqual(["LIN", "ZRH"]);
    const [italy, switzerland] = ["IT", "CH"].map((code) =>
      countries.find((country) => country.code === code),
    );
    expect(italy?.airports).toHaveLength(1);
    expect(switzerland?.regions).toHaveLength(2);
  });

  it("finds each place by the name in its link", () => {
    for (const place of [...airports, ...cities, ...countries, ...regions])
      expect(findPlace(catalog, selectionOf(place))).toBe(place);
  });

  it("finds a city by its number, however its name was written, and by its id", () => {
    const id = "d6c5e9f2-5c0b-8d0e-9002-000002657896"; // of GeoNames; the others are of OurAirports
    const [city] = cities.map((other) => ({ ...other, id, name: "Zürich" }));
    const find = (key: string) =>
      findPlace({ ...catalog, cities: city ? [city] : [] }, { kind: "city", key });
    expect(city && selectionOf(city).key).toBe("zurich-2657896");
    for (const key of ["zurich-2657896", "turicum-2657896", id]) expect(find(key)).toBe(city);
    expect(find("zurich-999")).toBeUndefined();
  });

  it("finds the airports nearest to a position, those with scheduled service apart", () => {
    const lugano = { lat: 46.0, lon: 8.95 };
    const places = airports.map((airport) =>
      airport.iata === "LIN" ? { ...airport, lat: 45.449, lon: 9.278 } : airport,
    );
    const { scheduled, others } = nearestAirports(places, lugano);
    const found = scheduled.map(({ airport, km }) => `${airport.iata} ${Math.round(km / 10) * 10}`);
    expect(found).toEqual(["LIN 70", "ZRH 170"]);
    expect(others).toEqual([]);
    const flightless = airports.map((airport) => ({ ...airport, tier: 3 as const }));
    expect(nearestAirports(flightless, lugano).others).toHaveLength(2);
  });

  it("has the important airports first", () => {
    expect(airports.toSorted(byImportance).map(({ iata }) => iata)).toEqual(["ZRH", "LIN"]);
  });

  it("knows an airport by the name that travellers use, and by its official one", () => {
    const linate = airports.find(({ iata }) => iata === "LIN");
    expect(linate?.name).toBe("Milan Linate");
    expect(linate?.officialName).toBe("LIN Airport");
    expect(zurich?.name).toBe(zurich?.officialName);
  });

  it("knows the codes of a city", () => {
    expect(zurich?.city.codes).toEqual(["ZRX"]);
  });

  it("refuses an answer whose references do not resolve", () => {
    const answer = aLocationsResponse();
    answer.cities.pop();
    expect(() => packCatalog(answer, ranks)).toThrow("lacks what");
  });

  it("writes ids as UUIDs", () => {
    const value = Uint8Array.from({ length: 16 }, (_, index) => index);
    expect(uuidText(create(UuidSchema, { value }))).toBe("00010203-0405-0607-0809-0a0b0c0d0e0f");
    expect(uuidText(undefined)).toBe("");
  });
});
