import { expect, it } from "vitest";
import type { AirportPlace } from "../src/catalog.ts";
import { foldForSearch } from "../src/search/fold.ts";
import { snapshotFinder } from "../../test/builders/catalog-finder.ts";

const { catalog, find } = await snapshotFinder();

function firstOf(typed: string): string | undefined {
  return find(typed)[0]?.place.id;
}

function codesOf(code: (airport: AirportPlace) => string): (readonly [string, string])[] {
  return catalog.airports.map((airport) => [code(airport), airport.id] as const);
}

it("finds the airport of each IATA code first, unless everybody knows another place by it", () => {
  const codes = codesOf(({ iata }) => iata);
  expect(codes.length).toBeGreaterThan(9_000);
  const others = codes.filter(([iata, id]) => firstOf(iata) !== id).map(([iata]) => iata);
  expect(others.toSorted().join(" ")).toBe("DRC GOA HUE KOS OSH PAU UAE USA");
  expect(
    find("can")
      .slice(0, 2)
      .map(({ place }) => place.name),
  ).toEqual(["Guangzhou Baiyun International Airport", "Canada"]);
});

it("finds the airport of each ICAO code first, unless a place has that very name", () => {
  const codes = codesOf(({ icao }) => icao).filter(([icao]) => /^[A-Z]{4}$/.test(icao));
  expect(codes.length).toBeGreaterThan(5_000);
  for (const [icao, id] of codes) {
    const found = find(icao).map(({ place }) => place);
    if (found[0]?.id === id) continue;
    // Kobe, Yola and some twenty more.
    const names = found.map(({ name }) => foldForSearch(name));
    expect(names, icao).toContain(icao.toLowerCase());
    expect(
      found.map((place) => place.id),
      icao,
    ).toContain(id);
  }
});

it("finds the city of each metropolitan code first", () => {
  const codes = catalog.cities.flatMap(({ id, codes: own }) =>
    own.filter(({ length }) => length === 3).map((code) => [code, id] as const),
  );
  expect(codes.length).toBeGreaterThan(90);
  expect(codes.filter(([code, id]) => firstOf(code) !== id)).toEqual([]);
});

it("takes no code for a typo", () => {
  expect(find("lszh").map(({ place }) => place.name)).toEqual(["Zürich Airport"]);
});
