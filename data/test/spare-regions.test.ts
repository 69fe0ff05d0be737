import { describe, expect, it } from "vitest";
import type { CatalogRegion } from "../build/catalog-region.ts";
import type { JoinedRegion } from "../build/region-join.ts";
import { codesWithAirfields, findSpareRegions } from "../build/spare-regions.ts";

const LONDON: CatalogRegion = {
  key: "iso3166-2:GB-LND",
  slug: "london-gb",
  name: "London",
  bareName: "London",
  members: ["GB-LND"],
  cldr: ["gblnd"],
};
const ARUBA: CatalogRegion = {
  ...LONDON,
  key: "iso3166-1:AW",
  slug: "aruba",
  members: ["AW"],
  cldr: ["AW"],
};

const english = new Map([
  ["gblnd", "London"],
  ["gbldn", "London"],
  ["calon", "London"],
  ["cazed", "Zed"],
  ["aw1", "North"],
]);

function joined(code: string, cldr: string): JoinedRegion {
  return { code, upstreamName: "", cldr: [cldr], rule: "code" };
}

const find = (...others: JoinedRegion[]) =>
  findSpareRegions([LONDON, ARUBA], [joined("GB-LND", "gblnd"), ...others], {
    english,
    valid: new Set(["gblnd", "cazed"]),
  });

describe("the subdivisions without an airport", () => {
  it("match those that CLDR names", () => {
    expect(find(joined("CA-ZED", "cazed"), joined("CA-Q", "caq"))).toEqual([
      {
        key: "iso3166-2:CA-ZED",
        slug: "zed-ca",
        name: "Zed",
        bareName: "Zed",
        members: ["CA-ZED"],
        cldr: ["cazed"],
      },
    ]);
  });

  it("have the code that upstream writes, and the one in force", () => {
    const [region] = find(joined("CA-OLD", "cazed"), joined("CA-OLDER", "cazed"));
    expect(region).toMatchObject({
      key: "iso3166-2:CA-OLD",
      members: ["CA-OLD", "CA-OLDER", "CA-ZED"],
    });
  });

  it("give way to the names and slugs of those that have airports", () => {
    expect(find(joined("GB-LDN", "gbldn"), joined("CA-LON", "calon"))).toMatchObject([
      { key: "iso3166-2:CA-LON", slug: "london-ca", name: "London (Canada)" },
      { key: "iso3166-2:GB-LDN", slug: "london-ldn-gb" },
    ]);
  });

  it("belong to no territory, and repeat no subdivision that has airports under another code", () => {
    expect(find(joined("AW-1", "aw1"), joined("GB-L", "gblnd"))).toEqual([]);
  });
});

it("codesWithAirfields finds the subdivisions with a larger airport or three airfields", () => {
  const row = (region: string, type = "small_airport") => ({ region, type });
  const rows = [
    ...[1, 2, 3].map(() => row("CH-AG")),
    ...[1, 2].map(() => row("CH-GL")),
    row("CH-NE", "medium_airport"),
    ...[1, 2, 3].map(() => row("CH-SO", "heliport")),
    ...[1, 2, 3].map(() => row("CH-VD", "closed")),
  ];
  expect(codesWithAirfields(rows)).toEqual(["CH-AG", "CH-NE"]);
});
