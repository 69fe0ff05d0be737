import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { regionId } from "../../../src/catalog/ids.ts";
import { checkCatalog } from "../../../src/catalog/integrity.ts";
import type { Built } from "../../../src/ingest/build.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import {
  aReferenceRegion,
  aSourceAirport,
  buildFrom,
  someReferenceRegions,
} from "../../builders/source.ts";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Airports that no table knows, around St. Gallen. */
const altenrhein = aSourceAirport({
  id: "10",
  iata: "ACH",
  name: "Altenrhein",
  region: "CH-SG",
  municipality: "St. Gallen",
  lat: 47.485001,
  lon: 9.56077,
});
const sitterdorf = aSourceAirport({
  id: "9",
  iata: "SIT",
  name: "Sitterdorf",
  region: "CH-SG",
  municipality: "ST GALLEN",
  lat: 47.508999,
  lon: 9.262,
});

function build(airports: readonly SourceAirport[], regionNames = NO_NAMES): Built {
  return buildFrom(airports, { regionNames });
}

describe("a region", () => {
  it("has the airports of its members: countries for macro-regions, else subdivisions", () => {
    const { catalog } = build([altenrhein, aSourceAirport()]);
    expect(catalog.regions.map(({ slug, airportIataCodes }) => [slug, airportIataCodes])).toEqual([
      ["europe", ["ACH", "ZRH"]],
      ["zurich-ch", ["ZRH"]],
    ]);
  });

  it("has the airports of all that its members name, each once", () => {
    const lake = aReferenceRegion({
      key: "travel:lake",
      slug: "lake",
      members: ["10", "CH-ZH", "CH", "XXX", "ACH", "11"],
    });
    const { catalog } = buildFrom([altenrhein, aSourceAirport()], { regions: [lake] });
    expect(catalog.regions.map(({ airportIataCodes }) => airportIataCodes)).toEqual([
      ["ACH", "ZRH"],
    ]);
  });

  it("has the airports that it lists, though upstream has them in another or in none", () => {
    const airports = [
      aSourceAirport(),
      { ...altenrhein, region: "CH-ZH" },
      { ...sitterdorf, region: "CH-U-A" },
    ];
    const regions = [
      aReferenceRegion(),
      aReferenceRegion({ key: "iso3166-2:CH-SG", slug: "sg", members: ["CH-SG", "10", "9"] }),
    ];
    const { catalog } = buildFrom(airports, { regions });
    expect(catalog.regions.map(({ slug, airportIataCodes }) => [slug, airportIataCodes])).toEqual([
      ["sg", ["ACH", "SIT"]],
      ["zurich-ch", ["ZRH"]],
    ]);
  });

  it("keeps an airport that it lists when that gets another code, and no other with the old one", () => {
    const regions = [aReferenceRegion({ members: ["CH-ZH", "10"] })];
    const recoded = { ...altenrhein, iata: "NEW" };
    const other = { ...sitterdorf, iata: "ACH", region: "CH-U-A" };
    const { catalog, new_regions } = buildFrom([recoded, other], { regions });
    expect(catalog.regions.map(({ airportIataCodes }) => airportIataCodes)).toEqual([["NEW"]]);
    expect(new_regions).toEqual([]);
  });

  describe("that lists the airports of a dissolved subdivision", () => {
    const regions = [aReferenceRegion({ members: ["CH-ZH", "10"] })];
    const regionNames = new Map([["CH-SG", "St. Gallen"]]);
    const built = (...airports: SourceAirport[]) => buildFrom(airports, { regions, regionNames });

    it("is the only one to have them", () => {
      expect(built(altenrhein)).toMatchObject({ new_regions: [], unnamed_regions: [] });
    });

    it("has a new airport near one of them, which founds none", () => {
      const { catalog, new_regions, unnamed_regions } = built(altenrhein, sitterdorf);
      expect(catalog.regions.map(({ slug, airportIataCodes }) => [slug, airportIataCodes])).toEqual(
        [["zurich-ch", ["ACH", "SIT"]]],
      );
      expect([new_regions, unnamed_regions]).toEqual([[], []]);
    });

    it("has no new airport far from them, which is reported", () => {
      const { catalog, new_regions, unnamed_regions } = built(altenrhein, {
        ...sitterdorf,
        lat: 46,
      });
      expect(catalog.regions.flatMap(({ airportIataCodes }) => airportIataCodes)).toEqual(["ACH"]);
      expect([new_regions, unnamed_regions]).toEqual([[], ["CH-SG"]]);
    });
  });

  it("stays out of the catalog when no airport is in it", () => {
    expect(build([altenrhein]).catalog.regions.map(({ slug }) => slug)).toEqual(["europe"]);
  });

  it("appears when upstream names a subdivision that the snapshot lacks", () => {
    const built = build([altenrhein, aSourceAirport()], new Map([["CH-SG", "St. Gallen"]]));
    expect(built.new_regions).toEqual(["CH-SG St. Gallen"]);
    expect(built.catalog.regions[1]).toEqual({
      id: regionId("iso3166-2:CH-SG"),
      key: "iso3166-2:CH-SG",
      slug: "st-gallen-ch",
      name: "St. Gallen",
      airportIataCodes: ["ACH"],
    });
  });

  it("gets a slug of its own when the one of its name is taken", () => {
    const built = build(
      [altenrhein, { ...sitterdorf, region: "CH-TG" }, aSourceAirport()],
      new Map([
        ["CH-SG", "Zürich"],
        ["CH-TG", "ZURICH"],
      ]),
    );
    expect(built.catalog.regions.map(({ slug }) => slug)).toEqual([
      "europe",
      "zurich-ch",
      "zurich-sg-ch",
      "zurich-tg-ch",
    ]);
  });

  it("gets a slug of its own also when the ones of its name and code are taken", () => {
    const taken = ["zurich-ch", "zurich-sg-ch", "zurich-sg-2-ch"].map((slug) =>
      aReferenceRegion({ key: `travel:${slug}`, slug, members: ["CH"] }),
    );
    const { catalog } = buildFrom([altenrhein], {
      regions: taken,
      regionNames: new Map([["CH-SG", "Zürich"]]),
    });
    expect(catalog.regions.find(({ key }) => key === "iso3166-2:CH-SG")?.slug).toBe(
      "zurich-sg-3-ch",
    );
    expect(checkCatalog(catalog)).toEqual([]);
  });

  it("has its code in the slug when its name does not fold to ASCII", () => {
    const built = build([altenrhein], new Map([["CH-SG", "北海道"]]));
    expect(built.catalog.regions.map(({ slug }) => slug)).toEqual(["europe", "sg-ch"]);
  });

  it.each(["CH-U-A", "CH", "ch-sg", "", "CH-", "CH-S G"])(
    "never comes from the dummy or malformed code “%s”",
    (code) => {
      const built = build([{ ...altenrhein, region: code }], new Map([[code, "Somewhere"]]));
      expect(built.new_regions).toEqual([]);
    },
  );

  it("never comes from a part of a territory, which is a region as a whole", () => {
    const territory = aReferenceRegion({
      key: "iso3166-1:PF",
      slug: "french-polynesia",
      members: ["PF"],
    });
    const airport = { ...altenrhein, country: "PF", region: "PF-LI" };
    const regionNames = new Map([["PF-LI", "Leeward Islands"]]);
    const built = buildFrom([airport], { regions: [territory], regionNames });
    expect(built.new_regions).toEqual([]);
    expect(built.catalog.regions).toMatchObject([{ airportIataCodes: ["ACH"] }]);
  });

  it.each(["*Offshore Platforms", "(FPSOs)"])("never comes from a dummy named “%s”", (name) => {
    expect(build([altenrhein], new Map([["CH-SG", name]])).new_regions).toEqual([]);
  });
});

describe("buildCatalog", () => {
  const names = new Map([
    ["CH-SG", "St. Gallen"],
    ["CH-TG", "Thurgau"],
  ]);
  const airports = [
    aSourceAirport(),
    altenrhein,
    sitterdorf,
    aSourceAirport({
      id: "11",
      iata: "AAA",
      region: "CH-TG",
      municipality: "Frauenfeld",
      lat: 47.1,
    }),
    aSourceAirport({ id: "12", iata: "BBB", region: "CH-SG", municipality: "St Gallen", lon: 9.1 }),
  ].map((airport) => ({ ...airport, icao: "" }));

  it("breaks no rule of the contract, also with new cities and regions", () => {
    expect(checkCatalog(build(airports, names).catalog)).toEqual([]);
  });

  it("gives the same catalog whatever the order of its inputs", () => {
    const regions = [
      ...someReferenceRegions(),
      aReferenceRegion({ key: "m49:155", slug: "west", members: ["CH"] }),
    ];
    const entries = [...names];
    const whole = buildFrom(airports, { regions, regionNames: names });
    fc.assert(
      fc.property(
        fc.shuffledSubarray(airports, { minLength: airports.length }),
        fc.shuffledSubarray(regions, { minLength: regions.length }),
        fc.shuffledSubarray(entries, { minLength: entries.length }),
        (someAirports, someRegions, someNames) => {
          const shuffled = { regions: someRegions, regionNames: new Map(someNames) };
          expect(buildFrom(someAirports, shuffled)).toEqual(whole);
        },
      ),
    );
  });
});
