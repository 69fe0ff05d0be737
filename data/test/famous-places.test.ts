import { expect, it } from "vitest";
import { airportsFor, fameOf, typedNames } from "../build/famous-places.ts";

const KYIV = { lat: 50.45, lon: 30.52 };
/** Degrees to the north of a place, of which each has 111 km. */
const at = (iata: string, degrees: number, country = "UA") => ({
  iata,
  country,
  lat: KYIV.lat + degrees,
  lon: KYIV.lon,
});

it.each([
  ["the nearest of airports with much traffic", [at("FAR", 2), at("NEAR", 0.3)], ["NEAR"]],
  [
    "also those that are little farther",
    [at("A", 0.5), at("B", 0.6), at("C", 0.7)],
    ["A", "B", "C"],
  ],
  [
    "none across a border before one at home",
    [at("ABROAD", 0.5, "PL"), at("HOME", 0.6)],
    ["HOME", "ABROAD"],
  ],
  ["none farther away than 300 km", [at("FAR", 2.8)], []],
])("takes %s", (_, airports, wanted) => {
  const found = airportsFor({ ...KYIV, country: "UA" }, airports);
  expect(found.map(({ iata }) => iata)).toEqual(wanted);
});

it("takes a busy airport before a near one without traffic", () => {
  const idle = Array.from({ length: 4_000 }, (_, rank) => at(`${rank}`, -80));
  const found = airportsFor(KYIV, [at("BUSY", 0.9), ...idle, at("IDLE", 0.3)]);
  expect(found.map(({ iata }) => iata)[0]).toBe("BUSY");
});

it("knows a place the better, the more scripts have a name for it", () => {
  const place = { ...KYIV, geonames: "1", name: "Bath", country: "GB", people: 1 };
  const many = fameOf({ ...place, names: ["Бат", "バース", "바스"] });
  expect(many).toBeGreaterThan(fameOf({ ...place, names: ["Bata", "Bade", "Badum", "Бат"] }));
});

it("chooses what travellers type, and not each spelling of it", () => {
  const names = ["bruges", "brugges", "briugas", "брюгге", "брюге", "брюггэ", "브뤼허", "ብሩዥ"];
  const chosen = typedNames("brugge", names, undefined);
  expect(chosen).toEqual(["bruges", "brugges", "брюгге", "브뤼허"]);
  expect(typedNames("mecca", ["مكة"], /^\p{Script=Arabic}+$/u)).toEqual(["مكة"]);
  const ofLucerne = ["lucerne", "ljucern", "люцерн", "citad de luzern"];
  expect(typedNames("luzern", ofLucerne, undefined)).toEqual(["lucerne", "люцерн"]);
});
