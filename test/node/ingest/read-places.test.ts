import { beforeAll, describe, expect, it } from "vitest";
import type { Places } from "../../../src/acceptance/surprises.ts";
import { readPlaces } from "../../../src/ingest/read-places.ts";
import { snapshotOpener } from "../../../src/sources/snapshot.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { aSourceAirport } from "../../builders/source.ts";

const UNKNOWN = aSourceAirport({ id: "9999999", iata: "XKL", name: "Kloten Airfield" });

let places: Places;

beforeAll(async () => {
  places = await readPlaces(snapshotOpener(snapshotOnDisk), [UNKNOWN]);
});

describe("the city of an airport that the snapshot lacks", () => {
  it.each([
    ["another name of the airport", { name: "Kloten International" }, true],
    [
      "a name that begins with a city nearby",
      { name: "Winterthur Kloten", municipality: "Kloten" },
      false,
    ],
    ["the municipality in other letters", { municipality: "ZURICH" }, true],
    ["another municipality", { municipality: "Winterthur" }, false],
    ["a municipality that no place is", { municipality: "Nowhere" }, false],
    ["another country", { lat: 40, lon: 140 }, false],
  ])("depends on what upstream writes: %s", (_, changes, same) => {
    expect(places.cityOf({ ...UNKNOWN, ...changes }) === places.cityOf(UNKNOWN)).toBe(same);
  });

  it("is none of upstream's where the snapshot knows the airport", () => {
    const known = aSourceAirport();
    expect(places.cityOf({ ...known, municipality: "Nowhere" })).toBe(places.cityOf(known));
  });
});

it.each([
  ["CH-ZH", "iso3166-2:CH-ZH"],
  ["AS-MA", "iso3166-1:AS"],
  ["AI-U-A", "iso3166-1:AI"],
  ["FR-U-A", ""],
  ["CH-XX", "CH-XX"],
])("the region of %s is %s", (code, key) => {
  expect(places.regionOf(code)).toBe(key);
});
