import { describe, expect, it } from "vitest";
import { checkCatalog, checkNames } from "../../../src/catalog/integrity.ts";
import { countryId } from "../../../src/catalog/ids.ts";
import type { Airport, Catalog, City, Country, Region } from "../../../src/catalog/model.ts";
import {
  aCatalog,
  aCity,
  aCountry,
  aMilan,
  aRegion,
  anAirport,
  byId,
} from "../../builders/catalog.ts";

const short = aCity().id.subarray(0, 15);
const nowhere = new Uint8Array(16).fill(7);

/** A value that no airport may have, for each field. */
const WRONG = {
  id: short,
  iata: "ZR",
  icao: "LSZ",
  name: "",
  lat: 91,
  lon: 181,
  cityId: nowhere,
} satisfies Record<keyof Airport, unknown>;

describe("checkCatalog", () => {
  it("finds nothing in a correct catalog", () => {
    expect(checkCatalog(aCatalog())).toEqual([]);
  });

  it.each<{ rule: string; entity: string; catalog: Catalog }>([
    { rule: "id_16_bytes", entity: `airports ${hex(short)}`, catalog: withAirport({ id: short }) },
    { rule: "name", entity: "airport ZRH", catalog: withAirport({ name: "" }) },
    { rule: "name", entity: "airport ZRH", catalog: withAirport({ name: " Kloten" }) },
    { rule: "name", entity: "airport ZRH", catalog: withAirport({ name: "Zu\u0308rich" }) },
    { rule: "icao", entity: "airport ZRH", catalog: withAirport({ icao: "LSZ" }) },
    { rule: "icao", entity: "airport ZRH", catalog: withAirport({ icao: "lszh" }) },
    { rule: "position", entity: "airport ZRH", catalog: withAirport({ lat: 90.000001 }) },
    { rule: "position", entity: "airport ZRH", catalog: withAirport({ lon: -180.000001 }) },
    { rule: "position", entity: "airport ZRH", catalog: withAirport({ lat: Number.NaN }) },
    { rule: "position", entity: "airport ZRH", catalog: withAirport({ lon: Infinity }) },
    { rule: "position", entity: "airport ZRH", catalog: withAirport({ lat: 0, lon: -0 }) },
    { rule: "city_id_resolves", entity: "airport ZRH", catalog: withAirport({ cityId: nowhere }) },
    { rule: "name", entity: "city ", catalog: withCity({ name: "" }) },
    { rule: "position", entity: "city Zürich", catalog: withCity({ lat: -91 }) },
    {
      rule: "country_id_resolves",
      entity: "city Zürich",
      catalog: withCity({ countryId: countryId("XX") }),
    },
    { rule: "iso_code2", entity: "country ch", catalog: withCountry({ isoCode2: "ch" }) },
    { rule: "iso_code3", entity: "country CH", catalog: withCountry({ isoCode3: "CH" }) },
    { rule: "phone_prefix", entity: "country CH", catalog: withCountry({ phonePrefix: "+41" }) },
    { rule: "name", entity: "country CH", catalog: withCountry({ nameEng: "" }) },
    { rule: "name", entity: "country CH", catalog: withCountry({ nameNative: "Schweiz " }) },
    { rule: "name", entity: "region zurich-ch", catalog: withRegion({ name: "" }) },
    { rule: "slug", entity: "region zurich--ch", catalog: withRegion({ slug: "zurich--ch" }) },
    { rule: "slug", entity: "region zürich-ch", catalog: withRegion({ slug: "zürich-ch" }) },
    {
      rule: "region_has_airports",
      entity: "region zurich-ch",
      catalog: withRegion({ airportIataCodes: [] }),
    },
    {
      rule: "airport_iata_codes_resolve",
      entity: "region zurich-ch",
      catalog: withRegion({ airportIataCodes: ["XXX"] }),
    },
    {
      rule: "ascending_and_unique",
      entity: "region zurich-ch: LIN",
      catalog: withRegion({ airportIataCodes: ["ZRH", "LIN"] }),
    },
    {
      rule: "ascending_and_unique",
      entity: "airport: LIN",
      catalog: aCatalog({ airports: aCatalog().airports.toReversed() }),
    },
    {
      rule: "ascending_and_unique",
      entity: `city: ${aCatalog().cities[0]?.name}`,
      catalog: aCatalog({ cities: aCatalog().cities.toReversed() }),
    },
    {
      rule: "ascending_and_unique",
      entity: `country: ${aCatalog().countries[0]?.isoCode2}`,
      catalog: aCatalog({ countries: aCatalog().countries.toReversed() }),
    },
    {
      rule: "ascending_and_unique",
      entity: "region: europe",
      catalog: aCatalog({ regions: aCatalog().regions.toReversed() }),
    },
  ])("names $rule and $entity", ({ rule, entity, catalog }) => {
    expect(checkCatalog(catalog)).toEqual([{ rule, entity }]);
  });

  it.each(Object.entries(WRONG))("finds a wrong %s of an airport", (field, value) => {
    expect(checkCatalog(withAirport({ [field]: value }))).not.toEqual([]);
  });

  it("reports an IATA code that is not three capital letters", () => {
    const airports = [anAirport({ iata: "ZR" })];
    const regions = [aRegion({ airportIataCodes: ["ZR"] })];
    expect(checkCatalog(aCatalog({ airports, regions }))).toEqual([
      { rule: "iata", entity: "airport ZR" },
    ]);
  });

  it("reports an ICAO code that two airports share, and none that several lack", () => {
    const catalogOf = (icao: string) =>
      aCatalog({ airports: aCatalog().airports.map((airport) => ({ ...airport, icao })) });
    expect(checkCatalog(catalogOf(""))).toEqual([]);
    expect(checkCatalog(catalogOf("LSZH"))).toEqual([
      { rule: "icao_unique", entity: "airport ZRH and airport LIN: LSZH" },
    ]);
  });

  it.each(["airports", "cities", "countries", "regions"] as const)("reports empty %s", (list) => {
    expect(checkCatalog(aCatalog({ [list]: [] }))).toContainEqual({
      rule: "list_not_empty",
      entity: list,
    });
  });

  it("reports an id that two airports share", () => {
    const airports = [anAirport({ iata: "LIN", icao: "", id: anAirport().id }), anAirport()];
    expect(checkCatalog(aCatalog({ airports }))).toEqual([
      { rule: "id_unique", entity: `airports ${hex(anAirport().id)}` },
    ]);
  });

  it("reports an IATA code that two airports share", () => {
    const airports = [
      anAirport({ iata: "LIN", icao: "" }),
      anAirport(),
      anAirport({ id: nowhere, icao: "" }),
    ];
    expect(checkCatalog(aCatalog({ airports }))).toEqual([
      { rule: "ascending_and_unique", entity: "airport: ZRH" },
    ]);
  });

  it("finds every violation up to the limit", () => {
    const airports = ["AAA", "BBB", "CCC"].map((iata) =>
      anAirport({ iata, icao: "", name: "", lat: 91 }),
    );
    const regions = [aRegion({ airportIataCodes: ["AAA"] })];
    const broken = aCatalog({ airports, regions });
    expect(checkCatalog(broken)).toHaveLength(6);
    expect(checkCatalog(broken, 4)).toEqual(checkCatalog(broken).slice(0, 4));
  });
});

describe("checkNames", () => {
  const { regions } = aCatalog();

  it("finds nothing if the locale has no names, because English is served", () => {
    expect(checkNames(regions, new Map())).toEqual([]);
  });

  it.each([
    { rule: "name_localized", name: "", slug: "zuerich-ch" },
    { rule: "name_localized", name: "Zürich\n", slug: "zuerich-ch" },
    { rule: "slug_localized", name: "Zürich", slug: "" },
    { rule: "slug_localized", name: "Zürich", slug: "Zuerich-ch" },
  ])("reports $rule for “$name” with “$slug”", ({ rule, name, slug }) => {
    const names = new Map([["iso3166-2:CH-ZH", { name, slug }]]);
    expect(checkNames(regions, names)).toEqual([{ rule, entity: "region zurich-ch" }]);
  });

  it("reports a slug that equals the base slug of a region without a name", () => {
    const names = new Map([["iso3166-2:CH-ZH", { name: "Europa", slug: "europe" }]]);
    expect(checkNames(regions, names)).toEqual([
      { rule: "slug_localized_unique", entity: "region zurich-ch and region europe: europe" },
    ]);
  });
});

function withAirport(changes: Partial<Airport>): Catalog {
  return aCatalog({
    airports: [anAirport({ iata: "LIN", icao: "", cityId: aMilan().id }), anAirport(changes)],
  });
}

function withCity(changes: Partial<City>): Catalog {
  return aCatalog({ cities: byId([{ ...aCity(), ...changes }, aMilan()]) });
}

function withCountry(changes: Partial<Country>): Catalog {
  const countries = aCatalog().countries.filter(({ isoCode2 }) => isoCode2 !== "CH");
  return aCatalog({ countries: byId([...countries, { ...aCountry(), ...changes }]) });
}

function withRegion(changes: Partial<Region>): Catalog {
  return aCatalog({ regions: [...aCatalog().regions.slice(0, 1), aRegion(changes)] });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
