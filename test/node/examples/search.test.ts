import { fromBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { findPlaces, indexPlaces } from "../../../examples/catalog/search.ts";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { concatenate } from "../../../src/catalog/bytes.ts";
import { encodeLocal } from "../../../src/catalog/encode.ts";
import { aCatalog, aMilan, anAirport, aRegion } from "../../builders/catalog.ts";
import { encodeCommon } from "../../builders/encode-common.ts";

const milan = { cityId: aMilan().id };
const catalog = aCatalog({
  airports: [
    anAirport({ ...milan, iata: "LIN", icao: "LIML", name: "Linate" }),
    anAirport({ ...milan, iata: "MXP", icao: "LIMC", name: "Malpensa" }),
    anAirport({ name: "Zürich-Kloten" }),
  ],
  regions: [aRegion({ airportIataCodes: ["LIN", "MXP", "ZRH"] })],
});
const names = new Map([["iso3166-2:CH-ZH", { name: "Straße", slug: "strasse" }]]);
const message = concatenate([
  encodeCommon(catalog).proto,
  encodeLocal(catalog.regions, names).proto,
]);
const index = indexPlaces(fromBinary(LocationsResponseSchema, message));

it.each([
  ["a code, whatever its case", "lin", ["Linate"]],
  ["an ICAO code", "LIMC", ["Malpensa"]],
  ["a city, which comes before its airports", "mil", ["Milan", "Linate", "Malpensa"]],
  ["a part of an airport's name", "klo", ["Zürich-Kloten"]],
  ["words in any order", "kloten zur", ["Zürich-Kloten"]],
  ["what is inside a word, from three letters on", "pen", ["Malpensa"]],
  ["a region by its local name, without its special letters", "strasse", ["Straße"]],
  ["a country by its own name", "italia", ["Italy"]],
  ["nothing for two letters inside a word", "pe", []],
  ["nothing for nothing", " - ", []],
])("finds %s", (_, typed, found) => {
  expect(findPlaces(index, typed).map(({ name }) => name)).toEqual(found);
});

it("finds no more than the limit", () => {
  expect(findPlaces(index, "mil", 1).map(({ name }) => name)).toEqual(["Milan"]);
});
