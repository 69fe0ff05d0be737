import { describe, expect, it, vi } from "vitest";
import { openFrom } from "../src/picker.ts";
import { otherNames, servedPlaces } from "../../web/build/search-files.ts";

const served = servedPlaces();
const names = otherNames();

describe("what is opened from data", () => {
  it("needs no network for anything", async () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("fetched"));
    const catalog = await openFrom({ served, names, locale: "de" });
    expect((await catalog.search("münchen"))[0]).toMatchObject({ name: "Munich" });
    expect((await catalog.search("germany"))[0]).toMatchObject({ name: "Deutschland" });
    await catalog.refresh();
    await catalog.setLocale("ja");
    expect((await catalog.search("germany"))[0]).toMatchObject({ name: "ドイツ" });
    expect([catalog.language, catalog.version, catalog.lastError]).toEqual(["ja", 0, null]);
    const { airports } = await catalog.places();
    expect(airports.find(({ iata }) => iata === "MUC")?.city.country.name).toBe("Germany");
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  });

  it("has names of cities in its own language", async () => {
    const cities = { airports: "MUC", names: "München" };
    const catalog = await openFrom({ served, cities, locale: "de" });
    const nameOf = async (key: string) => (await catalog.get(key))?.where;
    for (const [locale, where] of [
      ["de", "München, Deutschland"],
      ["ja", "Munich, ドイツ"],
      ["de", "München, Deutschland"],
    ] as const) {
      await catalog.setLocale(locale);
      await catalog.refresh();
      expect(await nameOf("muc")).toBe(where);
    }
  });

  it("has places that nobody can change for others", async () => {
    const places = await (await openFrom({ served })).places();
    const [airport] = places.airports;
    for (const shared of [places, places.airports, airport, airport?.city])
      expect(() => Object.assign(shared ?? {}, { name: "", 0: airport })).toThrow(TypeError);
  });

  it("finds nothing by other names if it has none", async () => {
    const catalog = await openFrom({ served });
    expect(await catalog.search("東京")).toEqual([]);
  });
});

describe("a suggestion", () => {
  const opening = openFrom({ served, names });
  const first = async (typed: string) => (await (await opening).search(typed, { limit: 1 }))[0];

  it("has the country and the position of its place", async () => {
    const position = { lat: expect.closeTo(48.35, 1), lon: expect.closeTo(11.79, 1) };
    expect(await first("MUC")).toMatchObject({ countryCode: "DE", position });
    expect(await first("munich")).toMatchObject({ kind: "city", countryCode: "DE", position });
    expect(await first("germany")).toMatchObject({ countryCode: "DE", position: null });
  });

  it.each([
    ["mun", "Munich", ["Mun"]],
    ["MUNICH", "Munich", ["Munich"]],
    ["new y", "New York", ["New", "Y"]],
    ["york new", "New York", ["New", "York"]],
    ["münchen", "Munich", []],
    ["sao p", "São Paulo", ["São", "P"]],
    ["são paulo", "São Paulo", ["São", "Paulo"]],
  ])("says what of its name was typed as %s", async (typed, name, texts) => {
    const found = (await (await opening).search(typed)).find((one) => one.name === name);
    expect(found?.matched.map(([start, end]) => name.slice(start, end))).toEqual(texts);
  });

  it("has no letter of its name without its marks", async () => {
    const cities = { airports: "MUC", names: "Mu\u0308nchen" };
    const catalog = await openFrom({ served, cities, locale: "de" });
    const found = await catalog.search("mu", { limit: 40 });
    expect(found.find(({ name }) => name === "Mu\u0308nchen")?.matched).toEqual([[0, 3]]);
  });

  it("is had again by the code of an airport, and by an id", async () => {
    const catalog = await opening;
    const munich = await catalog.get("MUC");
    expect(munich).toMatchObject({ kind: "airport", airports: ["MUC"], matched: [] });
    expect(await catalog.get(munich?.id ?? "")).toEqual(munich);
    const city = await first("munich");
    expect(await catalog.get(city?.id ?? "")).toEqual({ ...city, matched: [] });
    expect(await catalog.get("no such place")).toBeUndefined();
  });
});
