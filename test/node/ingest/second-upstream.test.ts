/**
 * A source in a format of its own, which numbers known airports otherwise and names a new subdivision.
 * `data/test/second-reader.test.ts` reads a real list of airports.
 */
import { fromBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { airportId } from "../../../src/catalog/ids.ts";
import { compareText } from "../../../src/catalog/integrity.ts";
import { AIRPORT_TYPES, type UpstreamReader } from "../../../src/sources/airport.ts";
import type { Upstream } from "../../../src/sources/upstream.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { PipelineWorld } from "../../builders/pipeline-world.ts";
import { aSnapshot } from "../../builders/small-snapshot.ts";

/** The small snapshot numbers it otherwise. */
const ZURICH = {
  id: "4505",
  type: "large_airport",
  name: "Zürich Airport",
  latitude: 47.458056,
  longitude: 8.548056,
  country: "CH",
  region: "CH-ZH",
  municipality: "Zurich",
  scheduledService: true,
  gpsCode: "LSZH",
  iataCode: "ZRH",
};
const LUGANO = {
  ...ZURICH,
  id: "4502",
  type: "medium_airport",
  name: "Lugano Airport",
  latitude: 46.004299,
  longitude: 8.91058,
  region: "CH-TI",
  municipality: "Agno",
  gpsCode: "LSZA",
  iataCode: "LUG",
};
const FIELD = { ...ZURICH, id: "6523", type: "small_airport", name: "Alp Field", iataCode: "" };

const reader: UpstreamReader = {
  files: ["airfields.json", "cantons.json"],
  async readAirports(open, countries) {
    const rows: (typeof ZURICH)[] = await new Response(await open("airfields.json")).json();
    const airports = rows.flatMap(({ id, name, country, region, municipality, ...row }) => {
      const type = AIRPORT_TYPES.find((known) => known === row.type);
      if (type === undefined || row.iataCode === "" || !countries.has(country)) return [];
      const position = { lat: row.latitude, lon: row.longitude };
      const codes = { iata: row.iataCode, icao: row.gpsCode };
      const place = { country, region, municipality, ...position };
      return [{ id, type, name, ...place, ...codes, scheduled: row.scheduledService }];
    });
    return {
      airports: airports.toSorted((a, b) => compareText(a.iata, b.iata)),
      delistedRows: new Map(),
      unopened: new Set(),
      seen: rows.length,
      filtered: rows.length - airports.length,
      coded: airports.length,
      rejects: [],
      repaired: {},
    };
  },
  async readSubdivisions(open, wanted) {
    const names: { [code: string]: string } = await new Response(await open("cantons.json")).json();
    return {
      names: new Map(Object.entries(names).filter(([code]) => wanted.has(code))),
      rejects: [],
    };
  },
};

const file = (name: string, as_of: string, content: unknown) => ({
  name,
  as_of,
  bytes: new TextEncoder().encode(JSON.stringify(content)),
});

const upstream: Upstream = {
  name: "cantons",
  reader,
  fetch: async () => [
    file("airfields.json", "2026-10-31", [ZURICH, LUGANO, FIELD]),
    file("cantons.json", "2026-10-30", { "CH-TI": "Ticino", "CH-UR": "Uri" }),
  ],
};

it("a run publishes a source with a reader of its own format, and known airports keep their ids", async () => {
  const world = new PipelineWorld(["en"]);
  // The snapshot's airports that this short list lacks may go at once.
  world.surprises = { holdMs: 0, unlistedPercent: 100 };
  world.source = upstream.name;
  world.upstream = upstream;
  const end = await world.runToEnd();
  expect(end.outcome).toBe("published");
  expect(world.run).toMatchObject({
    accounting: { filtered: 1, new_regions: ["CH-TI Ticino"] },
    counts: { airports: { seen: 2, kept: 2, rejected: 0 } },
  });
  expect(world.current?.as_of).toBe("2026-10-31");
  expect(world.current?.data).toEqual([
    { name: "cantons: airfields.json", as_of: "2026-10-31" },
    { name: "cantons: cantons.json", as_of: "2026-10-30" },
    ...aSnapshot()
      .sources.filter(({ what }) => what !== "OurAirports: airports")
      .map(({ what, as_of }) => ({ name: what, as_of })),
  ]);
  const body = world.current?.locales["en"]?.bodies.proto.identity;
  const message = body && (await tryReadBody(world.store, body));
  if (!message?.ok) throw new Error("there is no message in English");
  const { airports, regions } = fromBinary(LocationsResponseSchema, message.value);
  expect(airports.map(({ id, iata, name }) => [id?.value, iata, name])).toEqual([
    [airportId("4502"), "LUG", "Lugano Airport"],
    [airportId("4439"), "ZRH", "Zürich Airport"],
  ]);
  expect(regions.find(({ name }) => name === "Ticino")?.airportIataCodes).toEqual(["LUG"]);
});
