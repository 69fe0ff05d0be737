import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedPieces, localePieces } from "../../../src/catalog/encode.ts";
import { countryId, idKey } from "../../../src/catalog/ids.ts";
import { checkCatalog, checkNames, localizedName } from "../../../src/catalog/integrity.ts";
import type { AirportSet } from "../../../src/parts/manifest.ts";
import type { Airport, City, Country, Region } from "../../../src/catalog/model.ts";
import { countLists } from "../../../src/ingest/accounting.ts";
import { MESSAGE_MAX_BYTES } from "../../../src/ingest/guards.ts";
import type { Workspace } from "../../../src/ingest/workspace.ts";
import { acceptedWorkspace } from "../../builders/accepted-workspace.ts";
import {
  readSnapshotFile,
  snapshotManifest,
  snapshotOnDisk,
} from "../../builders/snapshot-on-disk.ts";

const locales = snapshotManifest.locales.map(({ locale }) => locale);

let workspace: Workspace;
let scheduled: Workspace;

function build(airportSet: AirportSet): Promise<Workspace> {
  return acceptedWorkspace(
    {
      "airports.csv.gz": readSnapshotFile("airports.csv.gz"),
      "regions.csv.gz": readSnapshotFile("regions.csv.gz"),
    },
    snapshotOnDisk,
    airportSet,
  );
}

beforeAll(async () => {
  workspace = await build("all");
  scheduled = await build("scheduled");
});

function airport(iata: string): Airport {
  return found(workspace.catalog.airports.find((one) => one.iata === iata));
}

function cityOf(iata: string): City {
  const key = idKey(airport(iata).cityId);
  return found(workspace.catalog.cities.find(({ id }) => idKey(id) === key));
}

function country(isoCode2: string): Country {
  return found(workspace.catalog.countries.find((one) => one.isoCode2 === isoCode2));
}

function region(slug: string): Region {
  return found(workspace.catalog.regions.find((one) => one.slug === slug));
}

/** Name and slug of a region in a locale. */
async function localized(slug: string, locale: string) {
  return localizedName(region(slug), await workspace.namesIn(locale));
}

function found<T>(entity: T | undefined): T {
  if (entity === undefined) throw new Error("not in the catalog");
  return entity;
}

describe("the catalog of the snapshot's airports with scheduled service", () => {
  it("has every such airport of the whole catalog, as it is there, and no other", () => {
    const { unscheduled, catalog } = scheduled;
    expect(catalog.airports.length).toBeGreaterThan(3_000);
    expect(catalog.airports.length + unscheduled).toBe(workspace.catalog.airports.length);
    const all = new Map(workspace.catalog.airports.map((one) => [one.iata, one]));
    for (const one of catalog.airports) expect(one).toEqual(all.get(one.iata));
  });

  it("has no city and no region without an airport, and every country", () => {
    const { airports, cities, countries, regions } = scheduled.catalog;
    const served = new Set(airports.map(({ cityId }) => idKey(cityId)));
    expect(cities.filter(({ id }) => !served.has(idKey(id)))).toEqual([]);
    expect(regions.filter(({ airportIataCodes }) => airportIataCodes.length === 0)).toEqual([]);
    expect(cities.length).toBeLessThan(workspace.catalog.cities.length);
    expect(regions.length).toBeLessThan(workspace.catalog.regions.length);
    expect(countries).toEqual(workspace.catalog.countries);
  });

  it("breaks no rule of the contract", () => {
    expect(checkCatalog(scheduled.catalog)).toEqual([]);
  });
});

describe("the catalog of the embedded snapshot", () => {
  it("has the counts of the snapshot's manifest", () => {
    expect(snapshotManifest.counts).toMatchObject(countLists(workspace));
  });

  it("breaks no rule of the contract", () => {
    expect(checkCatalog(workspace.catalog)).toEqual([]);
  });

  it("needs no region that the snapshot lacks", () => {
    expect(workspace.new_regions).toEqual([]);
  });

  it.each([
    ["Milan", ["MXP", "LIN", "BGY"], "IT"],
    ["New York", ["EWR", "JFK", "LGA"], "US"],
    ["London", ["LHR", "LGW", "STN", "LTN", "LCY", "SEN"], "GB"],
    ["Tokyo", ["HND", "NRT"], "JP"],
    ["Windhoek", ["WDH", "ERS"], "NA"],
  ])("has %s served by %j", (name, iataCodes, isoCode2) => {
    const cities = iataCodes.map(cityOf);
    expect(new Set(cities.map(({ id }) => idKey(id))).size).toBe(1);
    expect(cities[0]?.name).toMatch(name);
    expect(idKey(found(cities[0]).countryId)).toBe(idKey(countryId(isoCode2)));
  });

  it.each([
    ["DE", "DEU", "Germany", "Deutschland", "49"],
    ["JP", "JPN", "Japan", "日本", "81"],
    ["NA", "NAM", "Namibia", "Namibia", "264"],
    ["RU", "RUS", "Russia", "Россия", "7"],
    ["BV", "BVT", "Bouvet Island", "Bouvetøya", ""],
    ["XK", "XKX", "Kosovo", "Kosovë", "383"],
  ])("has the country %s as %s, %s, %s with the prefix “%s”", (...row) => {
    const [isoCode2, isoCode3, nameEng, nameNative, phonePrefix] = row;
    expect(country(isoCode2)).toMatchObject({ isoCode3, nameEng, nameNative, phonePrefix });
  });

  it("has 250 countries: those of ISO 3166-1 and Kosovo", () => {
    expect(workspace.catalog.countries).toHaveLength(250);
  });

  it("has the Balearic Islands as a region with its airports, which German calls Balearen", async () => {
    const balearics = found(
      workspace.catalog.regions.find(
        ({ key, airportIataCodes }) =>
          key.startsWith("iso3166-2:") && airportIataCodes.includes("PMI"),
      ),
    );
    expect(balearics.key).toBe("iso3166-2:ES-IB");
    expect(balearics.airportIataCodes).toEqual(expect.arrayContaining(["IBZ", "MAH", "PMI"]));
    expect(await localized(balearics.slug, "de")).toEqual({
      name: "Balearen",
      slug: "balearen-es",
    });
  });

  it("has the Caribbean as a region, with its airports and its Russian name", async () => {
    const { key, name, airportIataCodes } = region("caribbean");
    expect({ key, name }).toEqual({ key: "m49:029", name: "Caribbean" });
    expect(airportIataCodes).toEqual(expect.arrayContaining(["HAV", "PUJ", "SDQ"]));
    expect(await localized("caribbean", "ru")).toEqual({ name: "Карибы", slug: "kariby" });
  });

  it("has Tehran's airports in the region Tehran, though ISO reassigned Iran's codes", () => {
    const regions = workspace.catalog.regions.filter(
      ({ key, airportIataCodes }) =>
        key.startsWith("iso3166-2:IR") && airportIataCodes.some((code) => code === "THR"),
    );
    expect(regions.map(({ name }) => name)).toEqual(["Tehran"]);
    expect(regions[0]?.airportIataCodes).toEqual(expect.arrayContaining(["IKA", "THR"]));
  });

  it("has Puerto Rico, which ISO 3166-2 does not divide, as a region that Japanese names", async () => {
    const { key, airportIataCodes } = region("puerto-rico");
    expect(key).toBe("iso3166-1:PR");
    expect(airportIataCodes).toEqual(expect.arrayContaining(["BQN", "PSE", "SJU"]));
    expect((await localized("puerto-rico", "ja")).name).toBe("プエルトリコ");
  });

  it("has Kenya's airports in its counties, and the Cyclades with their airports alone", () => {
    expect(region("nairobi-county-ke").airportIataCodes).toEqual(["NBO", "WIL"]);
    expect(region("cyclades").airportIataCodes).toEqual(
      expect.arrayContaining(["JMK", "JNX", "JTR"]),
    );
    expect(region("cyclades").airportIataCodes).not.toContain("RHO");
  });

  it("puts every airport into one subdivision at most, and into at least one region", () => {
    const regions = Map.groupBy(
      workspace.catalog.regions.flatMap(({ key, airportIataCodes }) =>
        airportIataCodes.map((iata) => ({ iata, subdivision: key.startsWith("iso3166-2:") })),
      ),
      ({ iata }) => iata,
    );
    for (const { iata } of workspace.catalog.airports) {
      const its = regions.get(iata) ?? [];
      expect(its.length, iata).toBeGreaterThan(0);
      expect(its.filter(({ subdivision }) => subdivision).length, iata).toBeLessThanOrEqual(1);
    }
  });

  it.each(locales)("names every region in %s, with slugs of their own", async (locale) => {
    const names = await workspace.namesIn(locale);
    expect(checkNames(workspace.catalog.regions, names)).toEqual([]);
    expect(names.size).toBeGreaterThan(500);
  });
});

describe("docs/performance.md", () => {
  const page = readFileSync("docs/performance.md", "utf8");
  const bytesOf = (row: string) =>
    Number(new RegExp(`^\\| ${row} +\\| +(\\d+) `, "m").exec(page)?.[1]);

  it.each([
    ["proto", "connect-proto-identity"],
    ["json", "connect-json-identity"],
  ] as const)("has the length of the message in %s, within a hundredth", async (form, row) => {
    const { airports, cities, countries, regions } = workspace.catalog;
    const names = await workspace.namesIn("en");
    const pieces = [
      ...sharedPieces({ airports, cities, countries, regions }, form),
      ...localePieces(regions, names, form),
    ];
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    expect(bytesOf(row) / length).toBeGreaterThan(0.99);
    expect(bytesOf(row) / length).toBeLessThan(1.01);
  });

  it("is right that the world can nearly double before a message exceeds 3.5 MiB", () => {
    expect(MESSAGE_MAX_BYTES).toBe(3.5 * 1024 * 1024);
    const growth = MESSAGE_MAX_BYTES / bytesOf("connect-proto-identity");
    expect(growth).toBeGreaterThan(1.8);
    expect(growth).toBeLessThan(2.1);
  });
});
