import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../../src/catalog/bytes.ts";
import { encodeLocalePart } from "../../../src/catalog/encode.ts";
import type { Catalog, RegionNames } from "../../../src/catalog/model.ts";
import { anyCatalog } from "../../builders/arbitraries.ts";
import { aCatalog } from "../../builders/catalog.ts";
import { fuzzed } from "../../builders/fuzzed.ts";
import { encodeSharedPart } from "../../builders/encode-shared-part.ts";

/** The whole message in one piece, without the code under test. */
function messageOf(catalog: Catalog, names: RegionNames) {
  return create(LocationsResponseSchema, {
    airports: catalog.airports.map(({ id, cityId, ...airport }) => ({
      ...airport,
      id: { value: id },
      cityId: { value: cityId },
    })),
    cities: catalog.cities.map(({ id, countryId, ...city }) => ({
      ...city,
      id: { value: id },
      countryId: { value: countryId },
    })),
    countries: catalog.countries.map(({ id, ...country }) => ({ ...country, id: { value: id } })),
    regions: catalog.regions.map(({ id, key, slug, name, airportIataCodes }) => ({
      id: { value: id },
      slug,
      name,
      nameLocalized: names.get(key)?.name ?? name,
      slugLocalized: names.get(key)?.slug ?? slug,
      airportIataCodes: [...airportIataCodes],
    })),
  });
}

function encodeWhole(catalog: Catalog, names: RegionNames) {
  const shared = encodeSharedPart(catalog);
  const local = encodeLocalePart(catalog.regions, names);
  const proto = concatenate([shared.proto, local.proto]);
  const json = new TextDecoder().decode(concatenate([shared.json, local.json]));
  return { proto, json };
}

function expectWhole(catalog: Catalog, names: RegionNames): void {
  const message = messageOf(catalog, names);
  const { proto, json } = encodeWhole(catalog, names);
  expect(Buffer.from(proto).equals(toBinary(LocationsResponseSchema, message))).toBe(true);
  expect(json === toJsonString(LocationsResponseSchema, message)).toBe(true);
}

describe("the two encoded parts", () => {
  const names: RegionNames = new Map([
    ["iso3166-2:CH-ZH", { name: 'チューリッヒ州 \u2028"\\', slug: "zurich-ch" }],
  ]);

  it("concatenate to the bytes of the whole message, in binary and in JSON", () => {
    expectWhole(aCatalog(), names);
  });

  it("concatenate so for any texts and numbers, at each length around the encoder's chunk", () => {
    const length = fc.constantFrom(1, 2, 499, 500, 501);
    fc.assert(
      fc.property(anyCatalog(length), (catalog) => expectWhole(catalog, new Map())),
      fuzzed(5),
    );
  });
});
