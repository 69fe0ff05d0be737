import { describe, expect, it } from "vitest";
import { readCityTables } from "../../../src/sources/city-tables.ts";
import { aKnownPlace, aSourceAirport, streamOf } from "../../builders/source.ts";

const HEADER = "key,name,country,region,population,lat,lon";
const FILES: { readonly [name: string]: string } = {
  "cities.csv.gz": `${HEADER}
geonames:2657896,Zürich,CH,CH-ZH,300000,47.36667,8.55
geonames:2660646,Geneva,CH,CH-GE,200000,46.20222,6.14569
`,
  "airport-cities.csv.gz": `airport_id,city_key,origin
4439,geonames:2657896,served_city
29860,geonames:2660646,served_city
`,
  "gazetteer.csv.gz": `${HEADER}
geonames:2657970,Winterthur,CH,CH-ZH,90000,47.51,8.72
geonames:2867714,Singen,DE,DE-BW,50000,47.76,8.84
`,
  "places.csv.gz": "iso_region,municipality,city_key\nCH-ZH,zurich-kloten,geonames:2657896\n",
};

const unknown = aSourceAirport({ id: "99", municipality: "Winterthur" });

async function read(airports = [unknown]) {
  const opened: string[] = [];
  const tables = await readCityTables(async (name) => {
    opened.push(name);
    return streamOf(FILES[name] ?? "");
  }, airports);
  return { ...tables, opened };
}

describe("readCityTables", () => {
  it("reads the snapshot's cities, and which airport has which", async () => {
    const { cities, cityOfAirport } = await read();
    expect([...cities.values()].map(({ name }) => name)).toEqual(["Zürich", "Geneva"]);
    expect(cityOfAirport.get("4439")).toBe("geonames:2657896");
  });

  it("holds the places around airports that the snapshot does not know, in their country", async () => {
    const { places } = await read();
    expect(places).toEqual([
      aKnownPlace({
        key: "geonames:2657896",
        name: "Zürich",
        population: 300_000,
        alternates: new Set(["zurichkloten"]),
      }),
      aKnownPlace({
        key: "geonames:2657970",
        name: "Winterthur",
        population: 90_000,
        lat: 47.51,
        lon: 8.72,
      }),
    ]);
  });

  it("knows the large cities of every country, so that no other gets their names", async () => {
    expect([...(await read()).largeCities]).toEqual(["CH zurich", "CH geneva"]);
  });

  it("leaves the gazetteer closed when the snapshot knows every airport", async () => {
    const { places, opened } = await read([aSourceAirport()]);
    expect(places).toEqual([]);
    expect(opened).toEqual(["airport-cities.csv.gz", "cities.csv.gz"]);
  });
});
