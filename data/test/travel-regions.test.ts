import { describe, expect, it } from "vitest";
import { travelRegions } from "../build/travel-regions.ts";

const airports = [
  { iata: "FAO", country: "PT" },
  { iata: "RVN", country: "FI" },
];
const subdivisions = [{ key: "iso3166-2:FI-10", members: ["FI-10", "FI-LL", "KTT"] }];

const read = (...rows: { key: string; name: string; members: string }[]) =>
  travelRegions(rows, airports, subdivisions);

describe("travelRegions", () => {
  it("puts countries, airports and all members of a subdivision together", () => {
    expect(read({ key: "travel:far-north", name: "Far North", members: "FAO FI-LL PT" })).toEqual([
      {
        key: "travel:far-north",
        name: "Far North",
        members: ["FAO", "FI-10", "FI-LL", "KTT", "PT"],
        cldr: [],
      },
    ]);
  });

  it.each([
    { members: "ZZZ", why: "travel-regions.csv: travel:algarve: no source has ZZZ" },
    { members: "XX", why: "travel-regions.csv: travel:algarve: no source has XX" },
    { members: "FI-99", why: "travel-regions.csv: travel:algarve: no source has FI-99" },
    { members: "FAO FAO", why: "travel-regions.csv: travel:algarve: FAO is there twice" },
    { members: " ", why: "travel-regions.csv: travel:algarve: it has no members" },
  ])("refuses the members '$members' and names the row", ({ members, why }) => {
    expect(() => read({ key: "travel:algarve", name: "Algarve", members })).toThrow(why);
  });

  it("refuses a key that is not made from the name", () => {
    expect(() => read({ key: "travel:algarv", name: "Algarve", members: "FAO" })).toThrow(
      "travel:algarv: the key of Algarve is travel:algarve",
    );
  });

  it("refuses a key that is there twice", () => {
    const algarve = { key: "travel:algarve", name: "Algarve", members: "FAO" };
    expect(() => read(algarve, algarve)).toThrow(
      "travel-regions.csv: travel:algarve is there twice",
    );
  });
});
