import { describe, expect, it } from "vitest";
import { orderByTraffic, readTraffic } from "../build/airport-traffic.ts";

const order = (...airports: readonly (readonly [iata: string, type: string, people: number])[]) =>
  orderByTraffic(
    airports.map(([iata, type, people]) => ({ iata, type, people })),
    new Map([
      ["AAA", 0.9],
      ["BBB", 0.5],
      ["CCC", 0.1],
      ["DDD", 0.01],
    ]),
  ).map(({ iata }) => iata);

describe("orderByTraffic", () => {
  it("puts the busiest first, whatever its type", () => {
    expect(order(["DDD", "large_airport", 9], ["CCC", "small_airport", 1])).toEqual(["CCC", "DDD"]);
  });

  it("counts an airport of unknown traffic as the middle one of its type", () => {
    const large = ["AAA", "BBB", "CCC"].map((iata) => [iata, "large_airport", 0] as const);
    expect(order(["XXX", "large_airport", 1], ["YYY", "heliport", 1], ...large)).toEqual([
      "AAA",
      "XXX",
      "BBB",
      "CCC",
      "YYY",
    ]);
  });

  it("counts a small airport with many flights at most as the middle medium one", () => {
    expect(
      order(
        ["AAA", "small_airport", 1],
        ["BBB", "medium_airport", 5],
        ["CCC", "medium_airport", 1],
      ),
    ).toEqual(["BBB", "AAA", "CCC"]);
  });

  it("lets the larger city decide between equals, and then the code", () => {
    const strips = [
      ["XXX", "small_airport", 1],
      ["WWW", "small_airport", 1],
      ["YYY", "small_airport", 5],
    ] as const;
    expect(order(...strips)).toEqual(["YYY", "WWW", "XXX"]);
  });
});

describe("readTraffic", () => {
  it("puts an airport before the one that it is busier than", () => {
    const traffic = readTraffic();
    expect(traffic.get("BKK")).toBeGreaterThan(traffic.get("DMK") ?? Infinity);
    expect(traffic.get("KIX")).toBeGreaterThan(traffic.get("ITM") ?? Infinity);
  });
});
