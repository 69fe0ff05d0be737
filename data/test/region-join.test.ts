import { describe, expect, it } from "vitest";
import { acceptedJoins, joinRegions, type JoinSources } from "../build/region-join.ts";

const sources = (changes: Partial<JoinSources>): JoinSources => ({
  english: new Map(),
  aliases: new Map(),
  valid: new Set(),
  accepted: new Map(),
  ...changes,
});

const joins = (code: string, name: string, changes: Partial<JoinSources>) =>
  joinRegions([{ code, name }], sources(changes)).map(({ rule, cldr }) => ({ rule, cldr }));

describe("joinRegions", () => {
  it("joins a code whose English names agree", () => {
    const english = new Map([["frocc", "Occitania"]]);
    expect(joins("FR-OCC", "Occitanie", { english, valid: new Set(["frocc"]) })).toEqual([
      { rule: "code", cldr: ["frocc"] },
    ]);
  });

  it("makes a region a part of its territory if a person decided so, whatever its name", () => {
    const changes = {
      english: new Map([["sg04", "South East"]]),
      valid: new Set(["sg04"]),
      accepted: new Map([["SG-04", "SG"]]),
    };
    expect(joins("SG-04", "South East", changes)).toEqual([{ rule: "accepted", cldr: ["SG"] }]);
  });

  it("finds a region by its name if ISO gave the code to another", () => {
    const english = new Map([
      ["ir05", "Ilam"],
      ["ir17", "Kermanshah"],
    ]);
    const valid = new Set(["ir05", "ir17"]);
    expect(joins("IR-05", "Kermanshah Province", { english, valid })).toEqual([
      { rule: "name", cldr: ["ir17"] },
    ]);
  });

  it("joins a withdrawn code to its successor", () => {
    const english = new Map([["cz31", "South Bohemian"]]);
    const changes = {
      english,
      aliases: new Map([["czjc", "cz31"]]),
      valid: new Set(["cz31"]),
    };
    expect(joins("CZ-JC", "South Bohemian Region", changes)).toEqual([
      { rule: "alias", cldr: ["cz31"] },
    ]);
  });

  it("names a region by the code in force before the withdrawn one of the same name", () => {
    const english = new Map([
      ["mxdif", "Mexico City"],
      ["mxcmx", "Mexico City"],
    ]);
    expect(joins("MX-DIF", "Mexico City", { english, valid: new Set(["mxcmx"]) })).toEqual([
      { rule: "code", cldr: ["mxcmx", "mxdif"] },
    ]);
  });

  it("leaves a code in force to the region that has it", () => {
    const changes = {
      english: new Map([
        ["kzalm", "Almaty Region"],
        ["kz75", "Almaty"],
      ]),
      valid: new Set(["kz75"]),
      accepted: new Map([["KZ-ALA", "kz75"]]),
    };
    const regions = [
      { code: "KZ-ALA", name: "Almaty" },
      { code: "KZ-ALM", name: "Almaty Region" },
    ];
    expect(joinRegions(regions, sources(changes)).map(({ cldr }) => cldr)).toEqual([
      ["kz75"],
      ["kzalm"],
    ]);
  });

  it("takes a person's decision before all rules, also that there is none", () => {
    const english = new Map([["sc26", "Île Persévérance"]]);
    const accepted = new Map([["SC-26", null]]);
    expect(joins("SC-26", "Île Persévérance", { english, accepted })).toEqual([
      { rule: "none", cldr: [] },
    ]);
  });
});

describe("acceptedJoins", () => {
  const english = new Map([["afbam", "Bamyan"]]);

  it("takes a subdivision, a territory, and that there is none", () => {
    const rows = new Map([
      ["AF-BAM", "afbam"],
      ["HK-NT", "HK"],
      ["SC-26", "-"],
    ]);
    expect([...acceptedJoins(rows, english).values()]).toEqual(["afbam", "HK", null]);
  });

  it("refuses a code that CLDR does not have and names the row", () => {
    expect(() => acceptedJoins(new Map([["AF-BAM", "afxxx"]]), english)).toThrow(
      "region-joins.csv: AF-BAM: CLDR has no afxxx",
    );
  });
});
