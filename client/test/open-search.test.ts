import { gzipSync } from "node:zlib";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LocationsSearch } from "../src/api.ts";
import { openSearch } from "../src/index.ts";
import { JOIN_MS } from "../src/joint.ts";
import { openSearchIn } from "../src/picker.ts";
import { foldForSearch } from "../src/search/fold.ts";
import { isServedFile, joinServed, type ServedFile } from "../src/search/served.ts";
import { type Medium, Store } from "../src/store.ts";
import { snapshotFinder } from "../../test/builders/catalog-finder.ts";
import { CatalogService } from "../../test/builders/catalog-service.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";
import { cityNames, otherNames, servedPlaces } from "../../web/build/search-files.ts";

const BASE_URL = "https://locations.example.com";
/** Compressed as the service sends it where there is no brotli. */
const MAX_BYTES = 150_000;
const MAX_BYTES_OF_NAMES = 400_000;
const MAX_CITIES_BYTES = 8_000;

const served = servedPlaces();
const names = otherNames();
const german = cityNames().get("de");
let service: CatalogService;

afterEach(() => vi.restoreAllMocks());

beforeEach(() => {
  service = new CatalogService({ version: 1, bytes: new Uint8Array() });
  service.files = { "served.json": served, "names.json": names, "de.json": german };
});

/** As if some time had passed. */
function letPass(ms: number): void {
  const later = performance.now() + ms;
  vi.spyOn(performance, "now").mockReturnValue(later);
}

/** One folder for each test. */
function memoryMedium(): Medium {
  const values = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    read: async (key) => values.get(key),
    async replace(key, next) {
      const value = next(values.get(key));
      if (value !== undefined) values.set(key, value);
    },
    delete: async (key) => void values.delete(key),
    keys: async () => [...values.keys()],
  };
}

function open(locale = "en", medium = memoryMedium()): Promise<LocationsSearch> {
  // As another process has it.
  const store = new Store(medium);
  return openSearchIn({ baseUrl: BASE_URL, locale, fetch: service.fetch }, store);
}

function openWithNames(answer: () => Promise<Response>): Promise<LocationsSearch> {
  const fetch: typeof globalThis.fetch = (input, init) =>
    new Request(input).url.endsWith("/names.json") ? answer() : service.fetch(input, init);
  return openSearchIn({ baseUrl: BASE_URL, fetch }, new Store());
}

async function find(search: LocationsSearch, typed: string, limit = 3): Promise<string[]> {
  const found = await search.search(typed, { limit });
  return found.map(({ name, where, airports }) => `${name} | ${where} | ${airports.join(" ")}`);
}

describe("the search without a catalog", () => {
  it("fetches at most 150 kB until the first suggestion, 8 kB with names of cities, and then names of at most 400 kB", async () => {
    const search = await open("de");
    expect(await find(search, "zürich")).toContain("Zürich | Schweiz | ZRH");
    expect(service.takeCalls()).toEqual(["GET served.json", "GET de.json"]);
    expect(gzipSync(JSON.stringify(served)).length).toBeLessThan(MAX_BYTES);
    expect(gzipSync(JSON.stringify(names)).length).toBeLessThan(MAX_BYTES_OF_NAMES);
    for (const file of cityNames().values())
      expect(gzipSync(JSON.stringify(file)).length).toBeLessThan(MAX_CITIES_BYTES);
  });

  it("names cities in the reader's language, and where that has no name as in English", async () => {
    const search = await open("de");
    expect(await find(search, "MUC", 1)).toEqual(["Munich Airport | München, Deutschland | MUC"]);
    expect((await find(search, "munich"))[0]).toBe("München | Deutschland | MUC");
    expect((await find(search, "oslo"))[0]).toMatch(/^Oslo \|/);
    service.takeCalls();
    expect((await find(await open("en"), "munich"))[0]).toBe("Munich | Germany | MUC");
    expect(service.takeCalls()).toEqual(["GET served.json"]);
  });

  it("shows the names of cities once they come, if they fail to come at first", async () => {
    const { "de.json": cities, ...files } = service.files;
    service.files = files;
    const search = await open("de");
    expect((await find(search, "munich"))[0]).toBe("Munich | Deutschland | MUC");
    service.files = { ...files, "de.json": cities };
    const changed = new Promise<void>((onwards) => search.onChange(onwards));
    await search.refresh();
    await changed;
    expect((await find(search, "munich"))[0]).toBe("München | Deutschland | MUC");
  });

  it("gives an airport and a city their time zone, and nothing else one", async () => {
    const search = await open();
    const zoneOf = async (typed: string) => (await search.search(typed, { limit: 1 }))[0]?.timeZone;
    expect(await zoneOf("BAH")).toBe("Asia/Bahrain"); // the nearest land is Iran's
    expect(await zoneOf("URC")).toBe("Asia/Shanghai"); // as timetables have it
    expect(await zoneOf("new york")).toBe("America/New_York");
    expect(await zoneOf("germany")).toBeNull();
  });

  it("has the zones of the catalog, each one that the platform knows", async () => {
    const { airports } = await joinServed(served);
    const zones = new Map(airports.map(({ iata, timeZone }) => [iata, timeZone]));
    expect(zones.get("BSL")).toBe("Europe/Paris"); // its city is in Switzerland
    const now = new Date();
    for (const timeZone of new Set(zones.values()))
      expect(() => now.toLocaleString("en", { timeZone })).not.toThrow();
    const { catalog } = await snapshotFinder();
    const inCatalog = catalog.airports.filter(({ hasScheduledService }) => hasScheduledService);
    expect(new Map(inCatalog.map(({ iata, timeZone }) => [iata, timeZone]))).toEqual(zones);
    const others = catalog.airports.filter(({ hasScheduledService }) => !hasScheduledService);
    expect(new Set(others.map(({ timeZone }) => timeZone))).toEqual(new Set([""]));
  });

  it("has the ids, the names and the order of the catalog's search", async () => {
    const search = await open();
    const { find: findInCatalog } = await snapshotFinder();
    for (const typed of ["JFK", "LSZH", "london", "new york", "LON", "germany", "heathrow"]) {
      const wanted = findInCatalog(typed).map(({ place }) => place);
      const [first] = await search.search(typed);
      expect(first).toMatchObject({ id: wanted[0]?.id, name: wanted[0]?.name });
    }
  });

  it.each([
    ["a code", "jfk", false],
    ["the name of a large city", "london", false],
    ["the beginning of one", "lon", false],
    ["a name in another language", "münchen", true],
    ["a name in another script", "東京", true],
    ["a small place's name that a large one has elsewhere", "roma", true],
  ])("fetches names in other languages for %s: %s, %s", async (_, typed, isNeeded) => {
    const search = await open();
    await search.search(typed);
    await delay(0); // it need not wait for them
    expect(service.takeCalls().includes("GET names.json")).toBe(isNeeded);
  });

  it.each([
    ["münchen", "Munich | Germany | MUC"],
    ["köln", "Cologne | Germany | CGN"],
    ["roma", "Rome | Italy | FCO"], // not Roma in Australia
    ["wien", "Vienna | Austria | VIE"], // not the Ralph Wien Memorial Airport
    ["milano", "Milan | Italy | MXP"],
  ])("waits for names that may change what comes first: %s", async (typed, first) => {
    expect((await find(await open(), typed))[0]).toContain(first);
    expect(service.takeCalls()).toContain("GET names.json");
  });

  it.each([
    ["hamb", "Hamburg"],
    ["toron", "Toronto"],
    ["croat", "Croatia"],
    ["lon", "London"],
    ["MUC", "Munich Airport"],
  ])("does not wait for them if a busy place comes first: %s", async (typed, first) => {
    const search = await openWithNames(() => new Promise(() => undefined));
    expect((await search.search(typed))[0]).toMatchObject({ name: first });
  });

  it("waits for them in few of the texts that lead to the 200 busiest cities", async () => {
    const search = await openWithNames(() => new Promise(() => undefined));
    const { airports } = await joinServed(served);
    const cities = new Set(airports.map(({ city }) => city.name));
    const waiting = new Set<string>();
    for (const name of [...cities].slice(0, 200))
      for (const length of Array.from(name, (_, at) => at + 1)) {
        const found = await Promise.race([search.search(name.slice(0, length)), delay(0)]);
        if (found === undefined) waiting.add(name);
      }
    expect(waiting.size).toBeLessThanOrEqual(20);
  });

  it("finds what it has if they cannot be fetched", async () => {
    const search = await openWithNames(() => Promise.reject(new TypeError("fetch failed")));
    expect((await search.search("roma"))[0]).toMatchObject({
      where: "Roma, Australia",
      isPartial: true,
    });
  });

  it("tells of names for which it has not waited", async () => {
    const search = await open();
    const changed = new Promise<void>((resolve) => search.onChange(resolve));
    expect((await find(search, "alge"))[0]).toMatch(/^Algeria/);
    await changed;
    expect((await find(search, "alge"))[0]).toMatch(/^Algiers/);
  });

  it("waits for them however long they take, and fetches them once", async () => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const search = await openWithNames(async () => {
      await sent;
      return service.fetch(`${BASE_URL}/search/v1/names.json`);
    });
    const early = find(search, "münchen");
    letPass(JOIN_MS / 2);
    const late = find(search, "東京");
    send();
    expect((await early)[0]).toMatch(/^Munich/);
    expect((await late)[0]).toMatch(/^Tokyo/);
    expect(service.takeCalls()).toEqual(["GET served.json", "GET names.json"]);
  });

  it("fetches names again that have failed to come, after a while", async () => {
    const search = await open();
    service.isDown = true;
    const failure = { code: "unavailable", retryAfterSeconds: null };
    await expect(find(search, "東京")).rejects.toMatchObject(failure);
    service.isDown = false;
    letPass(JOIN_MS / 2);
    const again = { ...failure, retryAfterSeconds: JOIN_MS / 2000 };
    await expect(find(search, "東京")).rejects.toMatchObject(again);
    letPass(JOIN_MS);
    expect((await find(search, "東京"))[0]).toMatch(/^Tokyo/);
  });

  it("has the names when it opens in a Worker, where no fetch outlives its request", async () => {
    const search = await openSearch({ baseUrl: BASE_URL, fetch: service.fetch });
    expect(service.takeCalls()).toEqual(["GET served.json", "GET names.json"]);
    expect((await find(search, "roma"))[0]).toMatch(/^Rome/);
    expect(service.takeCalls()).toEqual([]);
  });

  it("tells apart cities of one name in one country", async () => {
    const found = await find(await open(), "jacksonville", 4);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.stringContaining("Jacksonville | Florida, United States"),
        expect.stringContaining("Jacksonville | North Carolina, United States"),
      ]),
    );
    const places = await joinServed(served);
    const texts = places.cities.map(({ name, country, airports }) =>
      [name, country.code, airports[0]?.regions[0]?.slug].join(" "),
    );
    const ambiguous = texts.filter((text, at) => texts.indexOf(text) !== at);
    expect(ambiguous).toEqual([]);
  });

  it("leads from a closed airport to its successor, says why, and needs no other names for that", async () => {
    const search = await open();
    const [byName] = await search.search("berlin tegel");
    const [byCode] = await search.search("TXL");
    for (const found of [byName, byCode])
      expect(found).toMatchObject({
        airports: ["BER"],
        replaces: { iata: "TXL", name: "Berlin Tegel", year: 2020, successor: "BER" },
      });
    for (const ofCity of ["berlin", "münchen", "münchen flughafen", "αθήνα", "香港", "北京"])
      for (const { replaces } of await search.search(ofCity)) expect(replaces).toBeUndefined();
    expect((await search.search("münchen-riem"))[0]).toMatchObject({ replaces: { year: 1992 } });
  });

  it.each([
    ["zermatt", "Zermatt", ["ZRH", "GVA"], [100, 175]],
    ["zerma", "Zermatt", ["ZRH", "GVA"], [100, 175]],
    ["beaver creek", "Beaver Creek", ["EGE"], [30, 40]],
    ["シャモニー", "Chamonix", ["GVA"], [65, 75]],
  ])(
    "leads from %s to airports and says how far they are",
    async (typed, name, codes, [least, most]) => {
      const found = await (await open()).search(typed, { limit: 3 });
      const near = found.filter((one) => one.near?.name === name);
      expect(near.map(({ airports }) => airports[0])).toEqual(codes);
      for (const { near: from } of near) {
        expect(from?.distanceKm).toBeGreaterThan(least ?? NaN);
        expect(from?.distanceKm).toBeLessThan(most ?? NaN);
      }
    },
  );

  it("says nothing of a resort for an airport that is typed itself", async () => {
    const search = await open();
    await search.search("zermatt");
    for (const typed of ["zurich", "ZRH", "den", "gva", "whis"])
      expect(
        (await search.search(typed)).filter(({ near, airports }) => near && airports[0] !== "YVR"),
      ).toEqual([]);
  });

  it("finds the nearest airports, as a catalog does", async () => {
    const search = await open("de");
    const [first] = await search.nearest({ lat: 47.3779, lon: 8.5402 });
    expect(first).toMatchObject({ where: "Zürich, Schweiz", airports: ["ZRH"] });
  });

  it("names countries in the language that one sets", async () => {
    const search = await open("de");
    await search.setLocale("ja");
    expect(search.language).toBe("ja");
    expect((await search.search("ZRH", { limit: 1 })).map(({ where }) => where)).toEqual([
      "Zurich, スイス",
    ]);
  });

  it("changes its language without the service, and then has names of cities once it can", async () => {
    const medium = memoryMedium();
    await open("en", medium);
    service.isDown = true;
    const search = await open("en", medium);
    await search.setLocale("de");
    expect(await find(search, "MUC", 1)).toEqual(["Munich Airport | Munich, Deutschland | MUC"]);
    expect(search.lastError).toMatchObject({ code: "unavailable" });
    service.isDown = false;
    await search.refresh();
    expect(await find(search, "MUC", 1)).toEqual(["Munich Airport | München, Deutschland | MUC"]);
  });

  it.each([
    ["xx", "en"],
    ["", "en"],
    ["de-AT", "de-AT"],
    ["pt_BR", "pt-BR"],
    ["en-GB-oed", "en"],
    ["i-klingon", "en"],
  ])("says for %s that its names are in %s", async (locale, language) => {
    expect((await open(locale)).language).toBe(language);
  });

  it("fetches its places once for all locales", async () => {
    const medium = memoryMedium();
    await open("de", medium);
    service.takeCalls();
    const search = await open("ja", medium);
    await search.setLocale("fr");
    await search.refresh();
    expect(service.takeCalls()).not.toContain("GET served.json");
  });

  it("opens without the service what is stored, and refreshes it", async () => {
    const medium = memoryMedium();
    await open("en", medium);
    service.isDown = true;
    const search = await open("en", medium);
    expect(await find(search, "ZRH")).toEqual(["Zürich Airport | Zurich, Switzerland | ZRH"]);
    await expect(search.refresh()).rejects.toMatchObject({ code: "unavailable" });
    service.isDown = false;
    const renamed = served.airports.names.map((name) => name.replace("Zürich Airport", "Kloten"));
    service.files = {
      "served.json": { ...served, airports: { ...served.airports, names: renamed } },
    };
    await search.refresh();
    expect((await search.search("ZRH", { limit: 1 }))[0]?.name).toBe("Kloten");
  });

  it.each([
    ["no such file", new Response("none", { status: 404 }), "unimplemented", "check that baseUrl"],
    ["one page for all paths", new Response("<!doctype html>"), "unavailable", "and that baseUrl"],
    [
      "a file of another form",
      Response.json({ ...served, codes: [] }),
      "unimplemented",
      "has another served.json than this package reads",
    ],
  ])("says so where the service has %s", async (_, answer, code, message) => {
    const opening = openSearchIn({ baseUrl: BASE_URL, fetch: async () => answer }, new Store());
    const failure = { code, message: expect.stringContaining(message) };
    await expect(opening).rejects.toMatchObject(failure);
  });

  it("says so where the service cannot be reached, and can be opened later", async () => {
    service.isDown = true;
    await expect(open("en")).rejects.toMatchObject({ code: "unavailable" });
    service.isDown = false;
    expect(await find(await open("en"), "ZRH")).not.toEqual([]);
  });
});

describe("/search/v1/served.json", () => {
  it("has what the catalog has of its airports, to a hundredth of a degree", async () => {
    const { airports } = await joinServed(served);
    const answer = snapshotResponse();
    const wanted = new Map(answer.airports.map((airport) => [airport.iata, airport]));
    expect(airports.length).toBeGreaterThan(4_000);
    for (const { iata, officialName, lat, lon, city } of airports) {
      const airport = wanted.get(iata);
      expect(officialName).toBe(airport?.name);
      expect(Math.abs(lat - (airport?.lat ?? NaN))).toBeLessThan(0.0051);
      expect(Math.abs(lon - (airport?.lon ?? NaN))).toBeLessThan(0.0051);
      expect(foldForSearch(city.name)).not.toBe("");
    }
  });

  it.each<(file: ServedFile) => unknown>([
    () => null,
    (file) => ({ ...file, airports: undefined }),
    (file) => ({ ...file, airports: { ...file.airports, lat: "1" } }),
    (file) => ({ ...file, cities: { ...file.cities, names: [1] } }),
    (file) => ({ ...file, countries: [["a", 1]] }),
    (file) => ({ ...file, members: [1] }),
    (file) => ({ ...file, codes: { LON: "1" } }),
    (file) => ({ ...file, members: [[file.airports.cities.length]] }),
    (file) => ({ ...file, members: [[-1]] }),
    (file) => ({ ...file, airports: { ...file.airports, cities: file.airports.cities.slice(1) } }),
    (file) => ({ ...file, cities: { ...file.cities, names: file.cities.names.slice(1) } }),
    (file) => ({ ...file, cities: { ...file.cities, countries: file.cities.countries.slice(2) } }),
    (file) => ({ ...file, countries: file.countries.slice(1) }),
  ])("is refused where it has another form (%#)", (change) => {
    expect(isServedFile(served)).toBe(true);
    expect(isServedFile(change(served))).toBe(false);
  });
});
