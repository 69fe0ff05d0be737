import { describe, expect, it } from "vitest";
import {
  placeKey,
  readCityTables,
  readCountries,
  readRegionNames,
  readRegions,
} from "../../../src/sources/reference.ts";
import {
  aReferenceCountry,
  aSourceAirport,
  someCityTables,
  someReferenceRegions,
  streamOf,
} from "../../builders/source.ts";

const FILES: { readonly [name: string]: string } = {
  "countries.csv.gz":
    "iso_code2,iso_code3,name_eng,name_native,phone_prefix\nCH,CHE,Switzerland,Schweiz,41\n",
  "cities.csv.gz":
    "key,name,country,lat,lon\ngeonames:2657896,Zürich,CH,47.36667,8.55\ngeonames:2657970,Winterthur,CH,47.50564,8.72413\n",
  "airport-cities.csv.gz": "airport_id,city_key,origin\n4439,geonames:2657896,served_city\n",
  "places.csv.gz": "iso_region,municipality,city_key\nCH-ZH,winterthur,geonames:2657970\n",
  "catalog-regions.csv.gz":
    "key,slug,name,members\nm49:150,europe,Europe,CH\niso3166-2:CH-ZH,zurich-ch,Zürich,CH-ZH\n",
  "names/de.csv.gz":
    "key,name,slug\nm49:150,Europa,europa\niso3166-2:CH-ZH,Zürich,\niso3166-2:XX-1,Weg,\n",
};

const open = (name: string) => streamOf(FILES[name] ?? "");

describe("readCountries", () => {
  it("reads the snapshot's countries", async () => {
    expect(await readCountries(open)).toEqual([aReferenceCountry()]);
  });
});

describe("readCityTables", () => {
  const inWinterthur = aSourceAirport({ id: "99", municipality: "WINTERTHUR" });

  it("reads every table of cities", async () => {
    expect(await readCityTables(open, [inWinterthur])).toEqual(someCityTables());
  });

  it("holds only the places of airports whose city is not known by their id", async () => {
    const zurich = aSourceAirport({ municipality: "Winterthur" });
    const elsewhere = aSourceAirport({ id: "99", municipality: "Winterthur", region: "CH-SG" });
    const { cityOfPlace } = await readCityTables(open, [zurich, elsewhere]);
    expect(cityOfPlace).toEqual(new Map());
  });
});

describe("readRegions", () => {
  it("reads the snapshot's regions", async () => {
    expect(await readRegions(open)).toEqual(someReferenceRegions());
  });

  it("reads the members of a region as a list", async () => {
    const regions = "key,slug,name,members\nm49:145,western-asia,Western Asia,AE BH CY\n";
    const [region] = await readRegions(() => streamOf(regions));
    expect(region?.members).toEqual(["AE", "BH", "CY"]);
  });
});

describe("readRegionNames", () => {
  const slugs = new Map([
    ["m49:150", "europe"],
    ["iso3166-2:CH-ZH", "zurich-ch"],
  ]);

  it("reads names and slugs, with the base slug where the locale has none of its own", async () => {
    expect([...(await readRegionNames(open, "de", slugs))]).toEqual([
      ["m49:150", { name: "Europa", slug: "europa" }],
      ["iso3166-2:CH-ZH", { name: "Zürich", slug: "zurich-ch" }],
    ]);
  });
});

describe("placeKey", () => {
  it("tells places of one name apart by their region", () => {
    expect(placeKey("US-ME", "portland")).not.toBe(placeKey("US-OR", "portland"));
  });
});
