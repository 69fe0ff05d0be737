import { describe, expect, it } from "vitest";
import type { Position } from "../src/distance.ts";
import { nearestTo, type NearestOptions } from "../src/nearest.ts";
import { readNearest } from "../src/options.ts";
import { joinServed } from "../src/search/served.ts";
import { servedPlaces } from "../../web/build/search-files.ts";

const { airports } = await joinServed(servedPlaces());
const countryName = ({ code }: { readonly code: string }) => code;
const ZURICH_MAIN_STATION = { lat: 47.3779, lon: 8.5402 };

function find(position: Position, options?: NearestOptions, among = airports): string[] {
  return nearestTo(among, readNearest(position, options), countryName).map(
    ({ airports: [iata = ""] }) => iata,
  );
}

describe("the nearest airports", () => {
  it("are suggestions with their distance, the nearest first", () => {
    const [first, second] = nearestTo(airports, readNearest(ZURICH_MAIN_STATION), countryName);
    expect(first).toMatchObject({ kind: "airport", where: "Zurich, CH", airports: ["ZRH"] });
    expect(first?.distanceKm).toBeCloseTo(9.2, 0);
    expect(second?.distanceKm).toBeGreaterThan(first?.distanceKm ?? Infinity);
  });

  it("are ten, or as many as wanted, and none too far away", () => {
    expect(find(ZURICH_MAIN_STATION)).toHaveLength(10);
    expect(find(ZURICH_MAIN_STATION, { limit: 3 })).toHaveLength(3);
    expect(find(ZURICH_MAIN_STATION, { withinKm: 20 })).toEqual(["ZRH"]);
    expect(find(ZURICH_MAIN_STATION, { withinKm: 1 })).toEqual([]);
  });

  it("are as far away as the great circle is long", () => {
    const heathrow = { lat: 51.4706, lon: -0.461941 };
    const all = readNearest(heathrow, { limit: airports.length });
    const found = nearestTo(airports, all, countryName);
    const kennedy = found.find(({ airports: [iata] }) => iata === "JFK");
    expect(kennedy?.distanceKm).toBeCloseTo(5540, -1);
  });

  it.each([
    ["east of the antimeridian", { lat: -16.69, lon: -179.9 }],
    ["west of it", { lat: -16.69, lon: 179.9 }],
    ["counted onwards", { lat: -16.69, lon: 180.1 }],
  ])("are found %s", (_, position) => {
    expect(find(position, { limit: 1 })).toEqual(["TVU"]);
  });

  it("are found at a pole", () => {
    expect(find({ lat: 90, lon: 0 }, { limit: 1 })).toEqual(["LYR"]);
  });

  it("have scheduled service, unless nothing is known of that", () => {
    const near = airports.map((airport) => ({
      ...airport,
      hasScheduledService: airport.iata !== "ZRH",
    }));
    const unknown = airports.map((airport) => ({ ...airport, hasScheduledService: false }));
    expect(find(ZURICH_MAIN_STATION, {}, near)).not.toContain("ZRH");
    expect(find(ZURICH_MAIN_STATION, {}, unknown)[0]).toBe("ZRH");
  });

  it.each<[string, unknown]>([
    ["of the browser", { latitude: 47, longitude: 8 }],
    ["that is no number", { lat: Number.NaN, lon: 8 }],
    ["in texts", { lat: "47", lon: "8" }],
    ["beyond the pole", { lat: 90.1, lon: 8 }],
  ])("are not found near a position %s", (_, position) => {
    expect(() => find(position as Position)).toThrow("position must be { lat, lon } in degrees");
  });
});
