import { describe, expect, it } from "vitest";
import { readCountries, readRegionNames, readRegions } from "../../../src/sources/reference.ts";
import { aReferenceCountry, someReferenceRegions, streamOf } from "../../builders/source.ts";

const FILES: { readonly [name: string]: string } = {
  "countries.csv.gz":
    "iso_code2,iso_code3,name_eng,name_native,phone_prefix\nCH,CHE,Switzerland,Schweiz,41\n",
  "catalog-regions.csv.gz":
    "key,slug,name,members\nm49:150,europe,Europe,CH\niso3166-2:CH-ZH,zurich-ch,Zürich,CH-ZH\n",
  "names/de.csv.gz":
    "key,name,slug\nm49:150,Europa,europa\niso3166-2:CH-ZH,Zürich,\niso3166-2:CH-TG,Thurgau,thurgau-ch\n",
};

const open = (name: string) => streamOf(FILES[name] ?? "");

describe("readCountries", () => {
  it("reads the snapshot's countries", async () => {
    expect(await readCountries(open)).toEqual([aReferenceCountry()]);
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
