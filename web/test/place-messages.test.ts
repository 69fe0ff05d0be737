import { toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { uuidText } from "../../client/src/uuid.ts";
import { placeMessages } from "../explorer/place-messages.ts";
import { aLocationsResponse } from "../../test/builders/locations-response.ts";

const answer = aLocationsResponse();
const { airports, cities, countries, regions } = answer;
const zurich = airports.findIndex(({ iata }) => iata === "ZRH");

function messagesOf(
  kind: "airport" | "city" | "country" | "region",
  place: { readonly id?: Parameters<typeof uuidText>[0] } | undefined,
) {
  return placeMessages(answer, { kind, id: uuidText(place?.id) });
}

describe("the messages of a place", () => {
  it("include an airport, its city, its country and its regions, each with what joins it", () => {
    const messages = messagesOf("airport", airports[zurich]);
    expect(messages.map(({ path, via }) => [path.replace(/\d+/, ""), via])).toEqual([
      ["airports[]", ""],
      ["cities[]", "Airport.city_id"],
      ["countries[]", "City.country_id"],
      ["regions[]", "Region.airport_iata_codes"],
      ["regions[]", "Region.airport_iata_codes"],
    ]);
    expect(messages[0]?.path).toBe(`airports[${zurich}]`);
  });

  it("lead from a city to its country and its airports, and stand alone for others", () => {
    const [first = "", ...others] = messagesOf("city", cities[0]).map(({ path }) => path);
    expect(first).toBe("cities[0]");
    expect(others.map((path) => path.replace(/\[.*/, ""))).toEqual(["countries", "airports"]);
    expect(messagesOf("country", countries[0]).map(({ path }) => path)).toEqual(["countries[0]"]);
    expect(messagesOf("region", regions[1]).map(({ path }) => path)).toEqual(["regions[1]"]);
  });

  it("have the sizes that add up to the whole answer", () => {
    const all = [
      ...airports.map((place) => messagesOf("airport", place)[0]),
      ...cities.map((place) => messagesOf("city", place)[0]),
      ...countries.map((place) => messagesOf("country", place)[0]),
      ...regions.map((place) => messagesOf("region", place)[0]),
    ];
    const sum = all.reduce((bytes, message) => bytes + (message?.bytes.proto ?? 0), 0);
    expect(sum).toBe(toBinary(LocationsResponseSchema, answer).length);
  });

  it("show each field as JSON and as its bytes", () => {
    const [own] = messagesOf("airport", airports[zurich]);
    expect(JSON.parse(own?.json ?? "")).toMatchObject({ iata: "ZRH" });
    expect(own?.proto).toMatch(/^iata +12 03 5a 52 48$/m);
  });

  it("show only the start of long lists", () => {
    const airportIataCodes = Array.from({ length: 100 }, (_, at) => `A${at}`);
    const [region] = regions;
    const long = { ...answer, regions: region ? [{ ...region, airportIataCodes }] : [] };
    const [shown] = placeMessages(long, { kind: "region", id: uuidText(region?.id) });
    expect(shown?.json).toContain('"A11", "… 88 more"');
    expect(shown?.proto).toMatch(/^airport_iata_codes .* … \d+ more$/m);
  });
});
