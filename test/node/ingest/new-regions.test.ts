import { beforeAll, describe, expect, it } from "vitest";
import { compareText } from "../../../src/catalog/integrity.ts";
import type { Region } from "../../../src/catalog/model.ts";
import type { Workspace } from "../../../src/ingest/workspace.ts";
import { acceptedWorkspace } from "../../builders/accepted-workspace.ts";
import { readSnapshotRows } from "../../builders/forgetful-snapshot.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";
import { csvOf, type Row } from "../../builders/source.ts";

/** Codes and names of OurAirports' regions.csv of 2026-08, which the snapshot's lacks. */
const OF_2026 = [
  ["BD-F", "Rangpur"],
  ["BF-09", "Hauts Bassins Region"],
  ["KE-11", "Isiolo County"],
  ["LU-C", "Clervaux"],
  ["MA-11", "Laâyoune-Sakia El Hamra"],
  ["NL-XX", "*Offshore Platforms"],
  ["PF-LI", "Leeward Islands"],
  ["SS-WR", "Warrap State"],
] as const;
/** A code that upstream's airports have and its regions.csv lacks. */
const UNNAMED = "MA-99";

const airports = readSnapshotRows("airports.csv.gz");
const counties = readSnapshotRows("catalog-regions.csv.gz").filter(({ key }) =>
  key?.startsWith("iso3166-2:KE-"),
);

/** County by IATA code, as upstream numbers counties. */
const codes = new Map(airports.map(({ id = "", iata_code: iata = "" }) => [id, iata]));
const countyOf = new Map(
  counties.flatMap(({ key = "", members = "" }) =>
    members
      .split(" ")
      .flatMap((member) => codes.get(member) ?? [])
      .map((iata) => [iata, key.slice("iso3166-2:".length)] as const),
  ),
);

/** Upstream of the day on which it has changed over: new codes, each with an airport. */
function changedOver(): Row[] {
  const others = airports.filter((row) => row["iso_country"] === "AU");
  const moved = OF_2026.map(([code], index) => ({
    ...others[index],
    iso_country: code.slice(0, 2),
    iso_region: code,
  }));
  const kenyan = airports
    .filter((row) => row["iso_country"] === "KE")
    .map((row) => ({ ...row, iso_region: countyOf.get(row["iata_code"] ?? "") ?? "KE-U-A" }));
  const bangladeshi = airports
    .filter((row) => row["iso_region"] === "BD-3")
    .map((row) => ({ ...row, iso_region: "BD-C" }));
  const german = airports.filter((row) => row["iso_region"] === "DE-BY");
  const [unnamed] = airports.filter((row) => row["iso_country"] === "MA");
  return [...moved, ...kenyan, ...bangladeshi, ...german, { ...unnamed, iso_region: UNNAMED }];
}

let workspace: Workspace;

beforeAll(async () => {
  const files: { readonly [name: string]: string } = {
    "airports.csv": csvOf(changedOver()),
    "regions.csv": csvOf(
      [...OF_2026, ["DE-BY", "Ghost"]].map(([code = "", name = ""]) => ({ code, name })),
      ["code", "name"],
    ),
  };
  workspace = await acceptedWorkspace(files, snapshotOnDisk);
});

const subdivisions = (): Region[] =>
  workspace.catalog.regions.filter(({ key }) => /^iso3166-[12]:/.test(key));

async function nameIn(locale: string, key: string) {
  return (await workspace.namesIn(locale)).get(key)?.name;
}

describe("upstream's codes of 2026", () => {
  it("become regions with the names of CLDR", async () => {
    expect(await nameIn("ru", "iso3166-2:BD-F")).toBe("Рангпур");
    expect(await nameIn("ja", "iso3166-2:SS-WR")).toBe("ワラブ");
    expect(await nameIn("de", "iso3166-2:LU-C")).toBe("Clerf");
    const slugs = subdivisions().map(({ slug }) => slug);
    expect(slugs).toEqual(expect.arrayContaining(["hauts-bassins-bf", "isiolo-ke", "clervaux-lu"]));
  });

  it("appear in the report if nothing knows them, and are no parts of territories or dummies", () => {
    expect(workspace.new_regions).toEqual(["MA-11 Laâyoune-Sakia El Hamra"]);
    const region = subdivisions().find(({ key }) => key === "iso3166-2:MA-11");
    expect(region).toMatchObject({ name: "Laâyoune-Sakia El Hamra" });
    expect(workspace.unnamed_regions).toEqual([UNNAMED]);
  });

  it("do not bring new names for what the snapshot names", async () => {
    const region = subdivisions().find(({ key }) => key === "iso3166-2:DE-BY");
    expect(region).toMatchObject({ name: "Bavaria", slug: "bavaria-de" });
    expect(await nameIn("en", "iso3166-2:DE-BY")).toBe("Bavaria");
  });

  it("lead to the earlier regions, with their slugs, if they only replace a code", () => {
    const dhaka = subdivisions().find(({ slug }) => slug === "dhaka-division-bd");
    const wanted = airports.filter((row) => row["iso_region"] === "BD-3");
    expect(dhaka?.airportIataCodes).toEqual(
      wanted.map((row) => row["iata_code"] ?? "").toSorted(compareText),
    );
  });

  it("put each airport of Kenya into its county, and into one only", () => {
    const kenyan = airports.filter((row) => row["iso_country"] === "KE");
    expect(kenyan.length).toBeGreaterThan(40);
    for (const { iata_code: iata = "" } of kenyan) {
      const its = subdivisions().filter(({ airportIataCodes }) => airportIataCodes.includes(iata));
      expect(
        its.map(({ key }) => key),
        iata,
      ).toEqual([`iso3166-2:${countyOf.get(iata)}`]);
    }
  });
});
