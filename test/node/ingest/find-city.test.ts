import { describe, expect, it } from "vitest";
import { findCity, newCityName } from "../../../src/ingest/resolve-cities.ts";
import type { KnownPlace } from "../../../src/sources/city-tables.ts";
import { Nearby } from "../../../src/catalog/positions.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { aKnownPlace, aSourceAirport } from "../../builders/source.ts";

const ONE_KM_NORTH = 1 / 111.19;

/** A place so many kilometres north of the airport. */
function aPlace(name: string, km: number, changes: Partial<KnownPlace> = {}): KnownPlace {
  return aKnownPlace({
    key: `geonames:${km}`,
    lat: km * ONE_KM_NORTH,
    lon: 8,
    population: 50_000,
    ...changes,
    name,
  });
}

function find(airport: Partial<SourceAirport>, ...places: KnownPlace[]) {
  const found = findCity(
    aSourceAirport({ name: "Airport", municipality: "", lat: 0, lon: 8, ...airport }),
    new Nearby(places),
  );
  return found && `${found.city.name}, ${found.key.split(":")[1]} km`;
}

describe("a new airport's city", () => {
  it.each([
    ["Bern", "Bern"],
    ["Bern (Belp)", "Bern"],
    ["Belp (Bern)", "Bern"],
    ["BERN, Kanton Bern", "Bern"],
    ["Bern District", "Bern"],
    ["Saint Gallen", "St. Gallen"],
    ["Pangkal Pinang", "Pangkalpinang"],
    ["Quebec", "Quebec City"],
  ])("has for the municipality “%s” the name %s", (municipality, name) => {
    expect(find({ municipality }, aPlace(name, 10))).toBe(`${name}, 10 km`);
  });

  it("can be found by another name that upstream uses for it", () => {
    const alternates = new Set(["bangalore"]);
    const bengaluru = aPlace("Bengaluru", 30, { alternates });
    expect(find({ municipality: "Bangalore" }, bengaluru)).toBe("Bengaluru, 30 km");
  });

  it("is in the airport's subdivision if two have its name; else it is the larger one, then the nearer one", () => {
    const other = aPlace("Wil", 5, { region: "CH-SG" });
    const own = aPlace("Wil", 20, { population: 0 });
    const larger = aPlace("Wil", 30);
    const nearer = aPlace("Wil", 25);
    const municipality = "Wil";
    expect(find({ municipality }, other, own)).toBe("Wil, 20 km");
    expect(find({ municipality }, other, own, larger)).toBe("Wil, 30 km");
    expect(find({ municipality }, larger, nearer)).toBe("Wil, 25 km");
  });

  it.each([
    [39, 99_999, true],
    [41, 99_999, false],
    [74, 100_000, true],
  ])(
    "may lie in another subdivision %i km away with %i inhabitants: %s",
    (km, population, found) => {
      const place = aPlace("Bedford", km, { region: "CH-SG", population });
      expect(find({ municipality: "Bedford" }, place) !== undefined).toBe(found);
    },
  );

  it("preferably has the municipality's name itself, before a city that upstream calls so", () => {
    const called = aPlace("Bengaluru", 5, {
      alternates: new Set(["bangalore"]),
      population: 90_000,
    });
    expect(find({ municipality: "Bangalore" }, called, aPlace("Bangalore", 30))).toBe(
      "Bangalore, 30 km",
    );
  });

  it("can be the place in brackets, where the runway is, if the town is unknown", () => {
    expect(find({ municipality: "Nowhere (Belp)" }, aPlace("Belp", 10))).toBe("Belp, 10 km");
  });

  it.each([
    ["within the name, near a village", "Aéroport Genève", 34_999, 24, 40_000, true],
    ["within the name, further away", "Aéroport Genève", 34_999, 26, 40_000, false],
    ["within the name, near a town", "Aéroport Genève", 35_000, 24, 200_000, false],
    ["first in the name, near a town", "Genève Vernier", 35_000, 39, 40_000, true],
    ["first in the name, further away", "Genève Vernier", 35_000, 41, 40_000, false],
    ["first in the name, but smaller", "Genève Vernier", 40_000, 5, 40_000, false],
    ["first in the name, just large enough", "Genève Vernier", 1_000, 5, 30_000, true],
    ["first in the name, too small", "Genève Vernier", 1_000, 5, 29_999, false],
  ])("can be a namesake of the airport: %s", (_, name, inhabitants, km, population, isNamesake) => {
    const town = aPlace("Vernier", 3, { population: inhabitants });
    const namesake = aPlace("Genève", km, { population });
    expect(find({ name, municipality: "Vernier" }, town, namesake)).toBe(
      isNamesake ? `Genève, ${km} km` : "Vernier, 3 km",
    );
  });

  it("is never in another country, nor over 75 km away", () => {
    const municipality = "Basel";
    expect(find({ municipality }, aPlace("Basel", 5, { country: "FR" }))).toBeUndefined();
    expect(find({ municipality }, aPlace("Basel", 80, { population: 200_000 }))).toBeUndefined();
  });

  it("comes from the airport's name if the municipality is a village or unknown", () => {
    const name = "Aéroport Genève Airport";
    const village = aPlace("Cointrin", 1, { population: 1000 });
    const city = aPlace("Genève", 20, { population: 200_000 });
    const byName = "Genève, 20 km";
    expect(find({ name, municipality: "Cointrin" }, village, city)).toBe(byName);
    expect(find({ name, municipality: "Meyrin" }, city)).toBe(byName);
    const town = aPlace("Vernier", 3, { population: 40_000 });
    expect(find({ name, municipality: "Vernier" }, town, city)).toBe("Vernier, 3 km");
  });

  it("comes from the airport's name, or is one next to it, if the municipality is empty", () => {
    const village = aPlace("Chagual", 12, { population: 0 });
    const next = aPlace("Elsewhere", 4);
    expect(find({ name: "Chagual Airport" }, village, next)).toBe("Chagual, 12 km");
    expect(find({ name: "Airstrip 5" }, village, next)).toBe("Elsewhere, 4 km");
    expect(find({ name: "Airstrip 5" }, village)).toBeUndefined();
    expect(find({ name: "Airstrip 5", municipality: "Nowhere" }, next)).toBeUndefined();
  });
});

describe("newCityName", () => {
  it.each([
    ["Kwatta (Wanica)", "Any Airport", "Kwatta"],
    ["Syros Island", "Syros Airport", "Syros"],
    ["", "Totegegie Airport", "Totegegie"],
    ["", "Airport", "Airport"],
    ["Hangzhou", "Jiande Airport", "Jiande"],
    ["Hangzhou (Jiande)", "Jiande Airport", "Jiande"],
    ["Hangzhou", "New Hangzhou Bay Airport", "Hangzhou"],
    ["Springfield", "Jiande Airport", "Springfield"],
  ])("returns for municipality “%s” and airport “%s” the name “%s”", (municipality, name, city) => {
    const large = new Set(["CH hangzhou", "US springfield"]);
    expect(newCityName(aSourceAirport({ municipality, name }), large)).toBe(city);
  });
});
