import { describe, expect, it } from "vitest";
import { decideZone, findTimeZones, type ZoneClues } from "../build/time-zones.ts";

const BERLIN = ["Europe/Berlin"];
const MANAUS = ["America/Manaus", "Brazil/West"];
const SAO_PAULO = ["America/Sao_Paulo", "Brazil/East"];
const BAHIA = ["America/Bahia"];

describe("decideZone", () => {
  it.each<[string, Partial<ZoneClues>, string | undefined]>([
    ["the only zone of the country", { ofCountry: [BERLIN], listed: "Asia/Tokyo" }, BERLIN[0]],
    ["no zone where the country has none", { ofCountry: [], listed: "Europe/Belgrade" }, undefined],
    ["what both say", { listed: "America/Manaus", beside: "America/Manaus" }, "America/Manaus"],
    ["the name in force", { listed: "Brazil/West" }, "America/Manaus"],
    ["the listed one of equal times", { listed: BAHIA[0], beside: SAO_PAULO[0] }, BAHIA[0]],
    ["none of unequal times", { listed: MANAUS[0], beside: SAO_PAULO[0] }, undefined],
    [
      "the place's if a code is another airport's",
      { listed: "Asia/Seoul", beside: MANAUS[0] },
      MANAUS[0],
    ],
    [
      "the listed one if the place's is abroad",
      { listed: MANAUS[0], beside: "America/Lima" },
      MANAUS[0],
    ],
    ["the place's if none is listed", { beside: MANAUS[0] }, MANAUS[0]],
    ["none if both are abroad", { listed: "Asia/Seoul", beside: "America/Lima" }, undefined],
  ])("takes %s", (_, clues, zone) => {
    const ofCountry = [MANAUS, SAO_PAULO, BAHIA];
    expect(decideZone({ ofCountry, listed: undefined, beside: undefined, ...clues })).toBe(zone);
  });
});

describe("findTimeZones", () => {
  const at = (iata: string, country: string) => ({ iata, country, lat: 0, lon: 0 });

  it("names each airport whose zone nobody knows, and each row without an airport", () => {
    expect(() => findTimeZones([at("ZZZ", "US")])).toThrow(
      /^ZZZ: .*say by a row in curated\/time-zones.csv[^]*time-zones.csv: no airport needs CN$/mu,
    );
  });
});
