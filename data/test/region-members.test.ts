import { describe, expect, it } from "vitest";
import { airportFinder, listedMembers, listMembers } from "../build/region-members.ts";

const kisumu = { iata: "KIS", country: "KE", region: "KE-700" };
const nairobi = { iata: "NBO", country: "KE", region: "KE-110" };
const entebbe = { iata: "EBB", country: "UG", region: "UG-C" };
const airports = [kisumu, nairobi, entebbe];

describe("airportFinder", () => {
  const regions = [
    { key: "m49:014", members: ["KE", "UG"] },
    { key: "iso3166-2:KE-42", members: ["KE-42", "KIS"] },
    { key: "iso3166-2:KE-700", members: ["KE-700"] },
    { key: "travel:lake-victoria", members: ["KIS", "EBB"] },
  ];
  const find = airportFinder(regions, airports);

  it("finds airports by country, by upstream's code and by their own", () => {
    expect([...find(["KE"])]).toEqual([kisumu, nairobi]);
    expect([...find(["KE-110"])]).toEqual([nairobi]);
    expect([...find(["EBB"])]).toEqual([entebbe]);
  });

  it("finds an airport that a subdivision lists in no other subdivision", () => {
    expect([...find(["KE-42", "KIS"])]).toEqual([kisumu]);
    expect([...find(["KE-700"])]).toEqual([]);
  });

  it("leaves an airport that only a travel region lists in its subdivision", () => {
    expect([...find(["UG-C"])]).toEqual([entebbe]);
  });

  it("finds an airport once that several members have, and nothing for a member that none has", () => {
    expect([...find(["KE", "KIS", "XX", "XX-1", "XXX"])]).toEqual([kisumu, nairobi]);
  });
});

describe("listedMembers", () => {
  it("says which subdivision has an airport or a newer code", () => {
    const rows = [{ code: "KE-110", members: "KE-47  NBO" }];
    expect([...listedMembers(rows, airports)]).toEqual([
      ["KE-47", "KE-110"],
      ["NBO", "KE-110"],
    ]);
  });

  it.each([
    { what: "an airport that no source has", members: "ZZZ", why: /KE-110: .* is ZZZ/u },
    { what: "an airport of another country", members: "EBB", why: /KE-110: .* is EBB/u },
    { what: "a code of another country", members: "UG-C", why: /KE-110: .* is UG-C/u },
    { what: "an airport twice", members: "NBO NBO", why: /NBO is there twice/u },
  ])("refuses $what and names it", ({ members, why }) => {
    expect(() => listedMembers([{ code: "KE-110", members }], airports)).toThrow(why);
  });
});

it("listMembers parts members by spaces", () => {
  expect(listMembers(" KE  KE-47 NBO ")).toEqual(["KE", "KE-47", "NBO"]);
  expect(listMembers("")).toEqual([]);
});
