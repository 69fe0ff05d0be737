import { describe, expect, it } from "vitest";
import { cityId, countryId, idKey } from "../../../src/catalog/ids.ts";
import { resolveCities } from "../../../src/ingest/resolve-cities.ts";
import type { SourceAirport } from "../../../src/catalog/source-airport.ts";
import { aSourceAirport, someCityTables } from "../../builders/source.ts";

const resolve = (...airports: SourceAirport[]) => resolveCities(airports, someCityTables());

/** City of each airport, in the order of the airports. */
function citiesOf(...airports: SourceAirport[]) {
  const { cities, cityIds } = resolve(...airports);
  const byId = new Map(cities.map((city) => [idKey(city.id), city]));
  return cityIds.map((id) => byId.get(idKey(id)));
}

const inStGallen = (changes: Partial<SourceAirport>) =>
  aSourceAirport({
    region: "CH-SG",
    municipality: "St. Gallen",
    lat: 47.485,
    lon: 9.5608,
    ...changes,
  });

describe("an airport's city", () => {
  it.each(["Kloten", "Winterthur", ""])(
    "follows the snapshot's entry for its OurAirports id, though its municipality is “%s”",
    (municipality) => {
      const moved = aSourceAirport({
        municipality,
        region: "CH-U-A",
        name: "New",
        lat: 46,
        lon: 7,
      });
      expect(citiesOf(moved)).toMatchObject([{ id: cityId("geonames:2657896") }]);
    },
  );

  it("can be a known one near a new airport, whatever its subdivision", () => {
    const airport = aSourceAirport({
      id: "99",
      name: "Airfield",
      municipality: "WINTERTHUR",
      region: "CH-NEW",
    });
    expect(citiesOf(airport)).toMatchObject([{ name: "Winterthur", lat: 47.5056 }]);
  });

  it("exists once for the new airports of one municipality, in the middle of them", () => {
    const altenrhein = inStGallen({ id: "10" });
    const sitterdorf = inStGallen({ id: "9", municipality: "ST GALLEN", lat: 47.509, lon: 9.262 });
    expect(resolve(altenrhein, sitterdorf)).toEqual({
      cities: [
        {
          id: cityId("ourairports:CH-SG:st-gallen"),
          name: "ST GALLEN",
          countryId: countryId("CH"),
          lat: 47.4971,
          lon: 9.4114,
        },
      ],
      cityIds: [cityId("ourairports:CH-SG:st-gallen"), cityId("ourairports:CH-SG:st-gallen")],
    });
  });

  it("exists once even if the border of a subdivision is between them", () => {
    const there = inStGallen({ id: "10" });
    const here = inStGallen({ id: "9", region: "CH-TG" });
    const ids = resolve(there, here).cityIds.map(idKey);
    expect(new Set(ids)).toEqual(new Set([idKey(cityId("ourairports:CH-TG:st-gallen"))]));
  });

  it.each([
    [1, 49.9],
    [2, 50.1],
  ])("exists %i times for two new airports of one municipality %d km apart", (count, km) => {
    const north = inStGallen({ id: "11", lat: 47.485 + km / 111.195 });
    expect(resolve(inStGallen({ id: "10" }), north).cities).toHaveLength(count);
  });

  it("exists twice for the same name far away, with another id", () => {
    const far = inStGallen({ id: "11", lat: 46.2, lon: 6.2 });
    const cities = citiesOf(inStGallen({ id: "10" }), far);
    expect(cities.map((city) => city?.name)).toEqual(["St. Gallen", "St. Gallen"]);
    expect(cities[0]?.id).toEqual(cityId("ourairports:CH-SG:st-gallen"));
    expect(cities[1]?.id).toEqual(cityId("ourairports:CH-SG:st-gallen-11"));
  });

  it("never has the id of a city of the snapshot that has its name and is elsewhere", () => {
    const tables = someCityTables();
    const [other] = tables.cities.values();
    if (other === undefined) throw new Error("no city");
    const namesake = { ...other, id: cityId("ourairports:CH-SG:st-gallen") };
    const cities = new Map([...tables.cities, ["ourairports:CH-SG:st-gallen", namesake]]);
    const { cityIds } = resolveCities([inStGallen({ id: "10" })], { ...tables, cities });
    expect(cityIds).toEqual([cityId("ourairports:CH-SG:st-gallen-10")]);
  });

  it("stands for one airport alone if neither municipality nor name folds to ASCII", () => {
    const [a, b] = ["1", "2"].map((id) =>
      aSourceAirport({ id, name: "北海道", municipality: "", lat: 0, lon: Number(id) }),
    );
    if (a === undefined || b === undefined) throw new Error("two airports");
    expect(citiesOf(a, b)).toMatchObject([
      { id: cityId("ourairports:CH-ZH:airport-1"), name: "北海道" },
      { id: cityId("ourairports:CH-ZH:airport-2") },
    ]);
  });

  it("stays out of the catalog when no airport is in it", () => {
    expect(resolve(aSourceAirport()).cities.map(({ name }) => name)).toEqual(["Zürich"]);
  });
});
