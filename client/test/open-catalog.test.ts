import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { LocationsCatalog } from "../src/api.ts";
import { fileMedium } from "../src/file-store.ts";
import { openCatalogIn } from "../src/full-catalog.ts";
import { JOIN_MS } from "../src/joint.ts";
import { type Medium, Store } from "../src/store.ts";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { aCatalog, aMilan, anAirport } from "../../test/builders/catalog.ts";
import { CatalogService } from "../../test/builders/catalog-service.ts";
import { aLocationsResponse } from "../../test/builders/locations-response.ts";

const BASE_URL = "https://locations.example.com";
/** Of all that is stored of its catalogs. */
const KEY = `${BASE_URL} catalog`;
const folder = mkdtempSync(join(tmpdir(), "locations-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

function versionWith(name: string): Uint8Array<ArrayBuffer> {
  const linate = anAirport({ iata: "LIN", name: "Linate", cityId: aMilan().id });
  const catalog = aCatalog({ airports: [linate, anAirport({ name })] });
  return toBinary(LocationsResponseSchema, aLocationsResponse(catalog));
}

let stores = 0;
/** What another process would make of the folder. */
let storeAgain: () => Store;
let medium: Medium;
let store: Store;
let service: CatalogService;

beforeEach(() => {
  const ownFolder = join(folder, String(stores++));
  medium = fileMedium(ownFolder);
  storeAgain = () => new Store(medium);
  store = storeAgain();
  service = new CatalogService({ version: 1, bytes: versionWith("Kloten") });
  service.files = {
    "ranks.json": { airports: ["ZRH"], tiers: "0", names: {}, cities: [], codes: {} },
    "names.json": { airports: { ZRH: "tsurihi" }, cities: {}, regions: {}, regionCodes: {} },
  };
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function open(locale = "en", fetch = service.fetch): Promise<LocationsCatalog> {
  store = storeAgain();
  return openCatalogIn({ baseUrl: `${BASE_URL}/`, locale, fetch }, store);
}

/** Answers like a web application that has one page for every path. */
function htmlInsteadOf(ending: string): typeof fetch {
  const { fetch: answer } = new CatalogService(service.served);
  return async (input, init) =>
    new URL(new Request(input).url).pathname.endsWith(ending)
      ? new Response("<!doctype html>", { headers: { "content-type": "text/html" } })
      : answer(input, init);
}

/** Answers, but for the language that it says. */
function inLanguage(language: string): typeof fetch {
  return async (input, init) => {
    const answer = await service.fetch(input, init);
    answer.headers.set("content-language", language);
    return answer;
  };
}

/** As if some time had passed. */
function letPass(ms: number): void {
  const later = performance.now() + ms;
  vi.spyOn(performance, "now").mockReturnValue(later);
}

const never: typeof fetch = () => new Promise(() => undefined);

async function find(catalog: LocationsCatalog, typed: string): Promise<string[]> {
  return (await catalog.search(typed)).map(({ name }) => name);
}

describe("an opened catalog", () => {
  it("finds places by their own names and by those in other languages", async () => {
    const catalog = await open();
    expect(await catalog.search("kloten")).toEqual([
      {
        kind: "airport",
        id: "d6c5e9f2-5c0b-8d0e-8001-000000046349",
        name: "Kloten",
        where: "Zürich, Switzerland",
        matched: [[0, 6]],
        countryCode: "CH",
        position: { lat: expect.closeTo(47.46, 1), lon: expect.closeTo(8.55, 1) },
        airports: ["ZRH"],
        timeZone: null,
        isUnderCity: false,
      },
    ]);
    expect(await find(catalog, "tsurihi")).toEqual(["Kloten"]);
    expect(await find(catalog, "schweiz")).toContain("Switzerland");
  });

  it("names the airports of a place, the busiest first", async () => {
    const [europe] = await (await open()).search("europe");
    expect(europe?.airports).toEqual(["ZRH", "LIN"]);
  });

  it("lists as many places as wanted", async () => {
    const catalog = await open();
    expect((await catalog.search("z")).length).toBeGreaterThan(1);
    expect(await catalog.search("z", { limit: 1 })).toHaveLength(1);
  });

  it("finds the nearest airports with scheduled service", async () => {
    const near = await (await open()).nearest({ lat: 45.45, lon: 9.28 });
    expect(near.map(({ airports }) => airports)).toEqual([["ZRH"]]);
  });

  it("has one place again by its code or id", async () => {
    const catalog = await open();
    const [zurich] = await catalog.search("ZRH");
    for (const code of ["ZRH", "zrh"])
      expect(await catalog.get(code)).toEqual({ ...zurich, matched: [] });
    const [europe] = await catalog.search("europe");
    for (const id of [europe?.id ?? "", europe?.id.toUpperCase() ?? ""])
      expect(await catalog.get(id)).toEqual({ ...europe, matched: [] });
    expect(await catalog.get("XXX")).toBeUndefined();
  });

  it("has places that nobody can change for others, and that are no JSON", async () => {
    const places = await (await open()).places();
    const [airport] = places.airports;
    const change = { name: "", 0: airport, airports: [] };
    for (const shared of [places, places.airports, airport, airport?.city, airport?.regions])
      expect(() => Object.assign(shared ?? {}, change)).toThrow(TypeError);
    expect(() => JSON.stringify(places)).toThrow("circular");
  });

  it("says when it was refreshed, also before a service that is away", async () => {
    const before = Date.now();
    const { lastRefreshed } = await open();
    expect(lastRefreshed.getTime()).toBeGreaterThanOrEqual(before);
    service.isDown = true;
    const catalog = await open();
    await expect.poll(() => catalog.lastError?.code).toBe("unavailable");
    expect(catalog.lastRefreshed).toEqual(lastRefreshed);
  });

  it("gives up waiting when a signal says so, for others not", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    store = storeAgain();
    const options = { baseUrl: BASE_URL, locale: "en", fetch: service.fetch };
    const [aborted, other] = [
      openCatalogIn({ ...options, signal }, store),
      openCatalogIn(options, store),
    ];
    controller.abort(new Error("the page was left"));
    await expect(aborted).rejects.toThrow("the page was left");
    const catalog = await other;
    await expect(catalog.search("zrh", { signal })).rejects.toThrow("the page was left");
    const { signal: alive } = new AbortController();
    expect(await catalog.search("zrh", { signal: alive })).toHaveLength(1);
  });

  it("waits for the names that it needs, though the stored one came without", async () => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const slow: typeof fetch = async (input, init) => {
      if (new Request(input).url.endsWith("/names.json")) await sent;
      return service.fetch(input, init);
    };
    store = storeAgain();
    const options = { baseUrl: BASE_URL, locale: "en", fetch: slow };
    await openCatalogIn({ ...options, lazyNames: true }, store);
    const opening = open("en", slow);
    setTimeout(send, 100);
    expect(await find(await opening, "tsurihi")).toEqual(["Kloten"]);
  });

  it("stores nothing that lacks a part, and then all of it at once", async () => {
    const withoutNames: typeof fetch = async (input, init) => {
      if (new Request(input).url.endsWith("/names.json")) throw new TypeError("fetch failed");
      return service.fetch(input, init);
    };
    const catalog = await open("en", withoutNames);
    expect(catalog.lastError).toMatchObject({ code: "unavailable" });
    expect(await medium.keys().catch(() => [])).not.toContain(`${KEY} en`);
    await expect(catalog.search("tsurihi")).rejects.toMatchObject({ code: "unavailable" });
    expect(await find(await open(), "tsurihi")).toEqual(["Kloten"]);
    expect(await medium.keys()).toContain(`${KEY} en`);
  });

  it("joins its places", async () => {
    const { airports } = await (await open()).places();
    expect(airports.map(({ city }) => city.country.code)).toEqual(["IT", "CH"]);
  });

  it("takes no catalog without its ranks, by which a place comes before others", async () => {
    const catalog = await open();
    service.served = { version: 2, bytes: versionWith("Irchel") };
    service.files = { ...service.files, "ranks.json": { busiest: [] } };
    const failure = { name: "CatalogError", code: "unimplemented" };
    await expect(catalog.refresh()).rejects.toMatchObject(failure);
    expect(catalog.version).toBe(1);
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
    store = new Store();
    const opening = openCatalogIn({ baseUrl: BASE_URL, fetch: service.fetch }, store);
    await expect(opening).rejects.toMatchObject(failure);
  });

  it("is damaged if a machine on the way has dropped Content-Language", async () => {
    const catalog = await open();
    const damaged = { name: "CatalogError", code: "unavailable" };
    const opening = open("de", inLanguage(""));
    await expect(opening).rejects.toMatchObject(damaged);
    const other = await openCatalogIn(
      { baseUrl: BASE_URL, locale: "en", fetch: inLanguage("") },
      new Store(medium),
    );
    await expect(other.refresh()).rejects.toMatchObject(damaged);
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
  });

  it.each(["de, en", "*", "i-default"])(
    "names countries in English if its language is '%s'",
    async (language) => {
      const catalog = await open("de", inLanguage(language));
      expect(await find(catalog, "switzerland")).toContain("Switzerland");
    },
  );

  it("is not disturbed by a listener that fails, which is reported", async () => {
    const catalog = await open();
    const reports: unknown[] = [];
    const { queueMicrotask: queue } = globalThis;
    vi.stubGlobal("queueMicrotask", (report: () => void) =>
      queue(() => {
        try {
          report();
        } catch (cause) {
          reports.push(cause);
        }
      }),
    );
    let changes = 0;
    catalog.onChange(() => {
      throw new Error("of the app");
    });
    catalog.onChange(() => changes++);
    await catalog.refresh();
    await catalog.setLocale("de");
    expect(changes).toBeGreaterThanOrEqual(2);
    expect(reports).toEqual(Array.from({ length: changes }, () => new Error("of the app")));
  });

  it("searches the beginning of a text that is too long", async () => {
    const catalog = await open();
    expect(await find(catalog, "kloten ".repeat(150_000))).toEqual(["Kloten"]);
    expect(await find(catalog, "z".repeat(1_000_000))).toEqual([]);
  });

  it("works with a service that has no files for the search", async () => {
    service.files = {};
    expect(await find(await open(), "kloten")).toEqual(["Kloten"]);
  });

  it("shows what is stored at once, and then what has changed", async () => {
    await open();
    service.served = { version: 2, bytes: versionWith("Irchel") };
    service.takeCalls();
    const catalog = await open();
    expect(catalog.version).toBe(1);
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
    await new Promise<void>((resolve) => catalog.onChange(resolve));
    expect(catalog.version).toBe(2);
    expect(await find(catalog, "irchel")).toEqual(["Irchel"]);
    expect(service.takeCalls().filter((call) => call.endsWith(".json"))).toEqual([
      "HEAD ranks.json",
      "HEAD names.json",
    ]);
    expect((await open()).version).toBe(2);
  });

  it("keeps the files of the search that something before the service does not find", async () => {
    const catalog = await open();
    service.files = {};
    await expect(catalog.refresh()).rejects.toMatchObject({ name: "CatalogError" });
    expect(await find(catalog, "tsurihi")).toEqual(["Kloten"]);
    expect(await find(await open(), "tsurihi")).toEqual(["Kloten"]);
  });

  it("fetches the files of the search again once they have changed", async () => {
    await (await open()).refresh();
    service.files = {
      ...service.files,
      "names.json": { airports: { ZRH: "zurigo" }, cities: {}, regions: {}, regionCodes: {} },
    };
    await (await open()).refresh();
    expect(await find(await open(), "zurigo")).toContain("Kloten");
  });

  it("needs no service once it is stored, and says so when it is refreshed", async () => {
    await open();
    service.isDown = true;
    const catalog = await open();
    await expect(catalog.refresh()).rejects.toMatchObject({
      name: "CatalogError",
      code: "unavailable",
      message: `${BASE_URL} cannot be reached (fetch failed): check the address and the connection; a page must name it in connect-src of its Content-Security-Policy`,
    });
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
  });

  it("treats names that are no JSON as missing", async () => {
    const catalog = await open("en", htmlInsteadOf("/names.json"));
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
  });

  it("says that its address is wrong when a web page answers there", async () => {
    await expect(open("en", htmlInsteadOf(""))).rejects.toMatchObject({
      name: "CatalogError",
      code: "unavailable",
      message: `${BASE_URL} answered with text/html (HTTP 200) instead of data: check that this network wants no sign-in, and that baseUrl is the address of the service`,
    });
  });

  it("stores the three locales that were opened last", async () => {
    for (const locale of ["en", "de", "fr", "en", "ja"]) await open(locale);
    const stored = (await medium.keys()).filter((key) => key.startsWith(`${KEY} `));
    expect(stored.toSorted()).toEqual([`${KEY} en`, `${KEY} fr`, `${KEY} ja`]);
  });

  it("leaves the names that another tab has stored", async () => {
    store = storeAgain();
    const options = { baseUrl: BASE_URL, locale: "en", fetch: service.fetch, lazyNames: true };
    const catalog = await openCatalogIn(options, store);
    await open();
    service.served = { version: 2, bytes: versionWith("Irchel") };
    await catalog.refresh();
    const stored = await storeAgain().read(`${KEY} en`);
    expect(stored).toMatchObject({ version: 2, files: { names: { content: { regions: {} } } } });
  });

  it("stays stored while another tab opens another locale", async () => {
    const plain = medium;
    medium = {
      ...plain,
      async replace(key, next) {
        await plain.replace(key, next);
        // Between two writes of the opening.
        if (key !== KEY) await new Store(plain).keepLastUsed(KEY, `${KEY} fr`, 3);
      },
    };
    await open();
    expect(await medium.keys()).toContain(`${KEY} en`);
  });

  it("is fetched once, however late the second one opens it", async () => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    store = storeAgain();
    const fetch: typeof globalThis.fetch = async (input, init) => {
      await sent;
      return service.fetch(input, init);
    };
    const options = { baseUrl: BASE_URL, locale: "en", fetch };
    const first = openCatalogIn(options, store);
    letPass(JOIN_MS / 2);
    const second = openCatalogIn(options, store);
    send();
    await Promise.all([first, second]);
    expect(service.takeCalls().filter((call) => call === "GET GetLocationsV1")).toHaveLength(1);
  });

  it("opens, refreshes and searches in its time, also while the store hangs as it writes", async () => {
    store = storeAgain();
    vi.spyOn(store, "write").mockReturnValue(new Promise(() => {}));
    const { fetch } = service;
    const catalog = await openCatalogIn(
      { baseUrl: BASE_URL, locale: "en", fetch, timeoutMs: 1000, lazyNames: true },
      store,
    );
    expect(await find(catalog, "tsurihi")).toContain("Kloten");
    await catalog.refresh();
    expect(catalog.lastError).toBeNull();
    expect(await find(catalog, "zrh")).toContain("Kloten");
  });

  it("ends with its calls when it is closed", async () => {
    const catalog = await open();
    let changes = 0;
    catalog.onChange(() => changes++);
    const pending = catalog.refresh();
    catalog.close();
    catalog.onChange(() => changes++);
    const calls = [pending, catalog.search("zrh"), catalog.get("ZRH"), catalog.places()];
    for (const call of [...calls, catalog.setLocale("de"), catalog.refresh()])
      await expect(call).rejects.toMatchObject({ code: "canceled" });
    const other = await openCatalogIn(
      { baseUrl: BASE_URL, locale: "en", fetch: service.fetch },
      store,
    );
    await other.refresh();
    expect(changes).toBe(0);
    service.takeCalls();
    await expect(catalog.refresh()).rejects.toMatchObject({ code: "canceled" });
    expect(service.takeCalls()).toEqual([]);
  });

  it("cannot be opened without the service, and says why", async () => {
    service.isDown = true;
    await expect(open()).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: null });
  });
});

describe("a service that accepts and stays silent", () => {
  const silent = createServer(() => undefined);
  let baseUrl: string;
  beforeAll(async () => {
    await once(silent.listen(0, "127.0.0.1"), "listening");
    baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`; // it listens on TCP
  });
  afterAll(() => silent.closeAllConnections());
  afterAll(() => silent.close());

  /** Sends requests there whose path has an ending, and all others to the good service. */
  const silentFor =
    (ending: string): typeof fetch =>
    (input, init) => {
      const { pathname } = new URL(new Request(input).url);
      return pathname.endsWith(ending)
        ? fetch(baseUrl, { method: init?.method ?? "GET", signal: init?.signal ?? null })
        : service.fetch(input, init);
    };

  it("is given up after the time limit", async () => {
    const opening = openCatalogIn({ baseUrl, timeoutMs: 50 }, store);
    await expect(opening).rejects.toMatchObject({
      name: "CatalogError",
      code: "deadline_exceeded",
      message: `the catalog of ${baseUrl} did not arrive within 50 ms: try again, or raise timeoutMs`,
    });
  });

  it("does not keep a stored catalog from opening, though a file of the search is missing", async () => {
    service.files = {};
    await open();
    const options = { baseUrl: BASE_URL, locale: "en", fetch: silentFor(".json") };
    const catalog = await openCatalogIn(options, storeAgain());
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
  });

  it.each([
    ["an opening", async () => undefined, "Kloten"],
    ["a change of the language", (catalog: LocationsCatalog) => catalog.setLocale("de"), "Irchel"],
    [
      "a refresh, which says so,",
      (catalog: LocationsCatalog) =>
        expect(catalog.refresh()).rejects.toMatchObject({ code: "deadline_exceeded" }),
      "Irchel",
    ],
  ])("holds up %s by names no longer than the limit", async (_, act, name) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const timeoutMs = 54_321;
    let endTime = () => {};
    const { setTimeout: start } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((end, ms) => {
      if (ms === timeoutMs) endTime = () => end();
      return start(end, ms);
    });
    const options = {
      baseUrl: BASE_URL,
      locale: "en",
      timeoutMs,
      fetch: (async (input, init) => {
        const { url } = new Request(input);
        if (url.endsWith("/names.json")) await released;
        // Ends the time once the catalog is there.
        else start(() => endTime(), 50);
        return service.fetch(input, init);
      }) satisfies typeof fetch,
    };
    const catalog = await openCatalogIn(options, store);
    expect(catalog.lastError).toMatchObject({ code: "deadline_exceeded" });
    service.served = { version: 2, bytes: versionWith("Irchel") };
    await act(catalog);
    expect(await find(catalog, name)).toEqual([name]);
    const found = find(catalog, "tsurihi");
    release();
    expect(await found).toEqual([name]);
  });

  it("does not take a newer version away by an earlier refresh that ends later", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isSlow = false;
    const slow: typeof fetch = async (input, init) => {
      const isHeld = isSlow;
      const answer = await service.fetch(input, init);
      if (isHeld) await released;
      return answer;
    };
    const catalog = await open("en", slow);
    isSlow = true;
    const earlier = catalog.refresh();
    isSlow = false;
    letPass(JOIN_MS);
    service.served = { version: 2, bytes: versionWith("Irchel") };
    await catalog.refresh();
    release();
    await earlier;
    expect(catalog.version).toBe(2);
    expect((await open()).version).toBe(2);
  });

  it("does not hold up a later refresh by an earlier one", async () => {
    let isSilent = true;
    const options = {
      baseUrl: BASE_URL,
      locale: "en",
      fetch: ((input, init) =>
        (isSilent ? silentFor("") : service.fetch)(input, init)) satisfies typeof fetch,
    };
    await open();
    const catalog = await openCatalogIn(options, store);
    isSilent = false;
    service.served = { version: 2, bytes: versionWith("Irchel") };
    letPass(JOIN_MS);
    await catalog.refresh();
    expect(catalog.version).toBe(2);
  });
});

describe("somebody who waits for what another has begun, and given up", () => {
  it("has what was opened", async () => {
    const options = { baseUrl: BASE_URL, locale: "en" };
    const impatient = openCatalogIn({ ...options, fetch: never, timeoutMs: 50 }, store);
    const patient = openCatalogIn({ ...options, fetch: service.fetch }, store);
    await expect(impatient).rejects.toMatchObject({ code: "deadline_exceeded" });
    expect(await find(await patient, "kloten")).toEqual(["Kloten"]);
  });

  it.each([
    ["refreshed", (catalog: LocationsCatalog) => catalog.refresh()],
    ["searched", (catalog: LocationsCatalog) => find(catalog, "tsurihi")],
  ])("has what was %s", async (_, call) => {
    let isSilent = false;
    const fickle: typeof fetch = (...request) => (isSilent ? never : service.fetch)(...request);
    const options = { baseUrl: BASE_URL, locale: "en", lazyNames: true };
    const impatient = await openCatalogIn({ ...options, fetch: fickle, timeoutMs: 1000 }, store);
    const patient = await openCatalogIn({ ...options, fetch: service.fetch }, store);
    await patient.refresh();
    isSilent = true;
    const [failed, done] = [call(impatient), call(patient)];
    await expect(failed).rejects.toMatchObject({
      code: "deadline_exceeded",
      message: expect.stringContaining("within 1000 ms"),
    });
    await done;
  });
});

describe("a change of the language", () => {
  it("leaves the earlier language until the other one is there", async () => {
    const catalog = await open();
    const changed = catalog.setLocale("de");
    expect(catalog.language).toBe("en");
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
    await changed;
    expect(catalog.language).toBe("de");
  });

  it("ends in the language that was wanted last", async () => {
    const catalog = await open();
    await catalog.setLocale("de");
    const seen = new Set<string>();
    catalog.onChange(() => seen.add(catalog.language));
    await Promise.all([catalog.setLocale("ja"), catalog.setLocale("de")]);
    expect(catalog.language).toBe("de");
    expect([...seen]).toEqual(["de"]);
  });

  it("has no effect once another one was wanted, even if that fails", async () => {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    let isHeld = false;
    const catalog = await open("en", async (input, init) => {
      if (isHeld) {
        ask();
        await sent;
      }
      return service.fetch(input, init);
    });
    isHeld = true;
    const first = catalog.setLocale("ja");
    await asked;
    isHeld = false;
    service.isDown = true;
    await expect(catalog.setLocale("de")).rejects.toThrow("fetch failed");
    service.isDown = false;
    send();
    await first;
    expect(catalog.language).toBe("en");
  });

  it("leaves nothing of the earlier language in memory", async () => {
    const catalog = await open();
    const earlier = new WeakRef(await catalog.places());
    await catalog.setLocale("de");
    await catalog.refresh();
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void; // V8 has it by that flag
    await expect.poll(() => (collectGarbage(), earlier.deref())).toBeUndefined();
  });

  it.each([
    ["open", 0],
    ["stored", 3],
  ])("fetches the names alone where another language is %s", async (_, storedLocales) => {
    const names = new Map([["iso3166-2:CH-ZH", { name: "Zürich-Land", slug: "zuerich-land-ch" }]]);
    const german = toBinary(LocationsResponseSchema, aLocationsResponse(aCatalog(), names));
    const english = toBinary(LocationsResponseSchema, aLocationsResponse(aCatalog()));
    service.served = { version: 1, bytes: english, others: { de: german } };
    service.names = { letters: [], names: ["", "Zürich-Land"], slugs: { 1: "zuerich-land-ch" } };
    const openIn = async (locale: string) =>
      openCatalogIn(
        { baseUrl: BASE_URL, locale, storedLocales, fetch: service.fetch },
        storeAgain(),
      );
    const earlier = await openIn("en");
    service.takeCalls();
    const { regions } = await (await openIn("de")).places();
    expect(earlier.language).toBe("en");
    expect(regions.map(({ name }) => name)).toEqual(["Europe", "Zürich-Land"]);
    const calls = service.takeCalls().filter((call) => !call.endsWith(".json"));
    expect(calls).toEqual(["HEAD GetLocationsV1", "GET names"]);
  });

  it("leaves the earlier language when it fails", async () => {
    const catalog = await open();
    service.isDown = true;
    await expect(catalog.setLocale("de")).rejects.toThrow("fetch failed");
    expect(catalog.language).toBe("en");
  });
});

describe("catalogs of one address, locale and folder", () => {
  const options = () => ({ baseUrl: BASE_URL, locale: "en", fetch: service.fetch });
  const openShared = () => openCatalogIn(options(), store);

  it("are one, which is fetched and joined once, however many are opened at once", async () => {
    const opened = await Promise.all(Array.from({ length: 100 }, openShared));
    expect(service.takeCalls().toSorted()).toEqual([
      "GET GetLocationsV1",
      "GET names.json",
      "GET ranks.json",
    ]);
    const places = await Promise.all(opened.map((catalog) => catalog.places()));
    expect(new Set(places).size).toBe(1);
    expect(await openShared().then((later) => later.places())).toBe(places[0]);
  });

  it("show all what one of them has refreshed", async () => {
    const [first, second, third] = await Promise.all([openShared(), openShared(), openShared()]);
    await second.refresh();
    service.served = { version: 2, bytes: versionWith("Irchel") };
    const heard: string[] = [];
    const listener = () => heard.push("change");
    first.onChange(listener);
    second.onChange(listener);
    first.close();
    await third.refresh();
    expect(second.version).toBe(2);
    expect(heard).toEqual(["change"]);
  });

  it("have each the language that it was given", async () => {
    const [first, second] = [await openShared(), await openShared()];
    await first.setLocale("de");
    expect([first.language, second.language]).toEqual(["de", "en"]);
  });

  it("work through a proxy and taken apart", async () => {
    const catalog = await openShared();
    const { search, places, refresh } = new Proxy(catalog, {});
    await refresh();
    expect(await search("kloten")).toHaveLength(1);
    expect((await places()).airports).toHaveLength(2);
    expect(new Proxy(catalog, {}).version).toBe(1);
  });

  it("are stored for as many locales as one wants", async () => {
    const catalogKeys = async () =>
      (await medium.keys()).filter((key) => key.startsWith(`${KEY} `)).length;
    for (const locale of ["en", "de", "fr", "ja", "it"])
      await openCatalogIn({ ...options(), locale, storedLocales: 5 }, store);
    expect(await catalogKeys()).toBe(5);
    medium = fileMedium(join(folder, String(stores++)));
    await openCatalogIn({ ...options(), storedLocales: 0 }, storeAgain());
    await expect(medium.keys()).rejects.toThrow("no such file");
  });

  it("fetch names in other languages at the first search only, if one wants that", async () => {
    const catalog = await openCatalogIn({ ...options(), lazyNames: true }, store);
    const changed = new Promise<void>((resolve) => catalog.onChange(resolve));
    expect(service.takeCalls()).not.toContain("GET names.json");
    expect(await find(catalog, "zrh")).toEqual(["Kloten"]);
    await changed;
    expect(service.takeCalls()).toEqual(["GET names.json"]);
    expect(await find(catalog, "tsurihi")).toEqual(["Kloten"]);
  });
});

describe("what a traveller reads", () => {
  it.each([
    ["de", "Zürich, Schweiz", "Schweiz"],
    ["ja", "Zürich, スイス", "スイス"],
    ["tlh", "Zürich, Switzerland", "Switzerland"],
  ])("has the country in the language of the answer (%s)", async (language, where, name) => {
    const catalog = await open(language);
    expect((await catalog.search("kloten")).map((found) => found.where)).toEqual([where]);
    expect((await catalog.search("CHE", { limit: 1 })).map((found) => found.name)).toEqual([name]);
  });
});

describe("a Retry-After", () => {
  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString();

  it.each([
    ["in seconds", () => "7", [7]],
    ["as a date", inAMinute, [58, 59, 60]],
    ["as a date in the past", () => "Wed, 21 Oct 2015 07:28:00 GMT", [null]],
    ["of no sense", () => "soon", [null]],
    ["of none", () => "0", [null]],
  ])("%s is a number of seconds, or none", async (_, value, seconds) => {
    const headers = { "content-type": "text/html", "retry-after": value() };
    const opening = open("en", async () => new Response("", { status: 503, headers }));
    const retryAfterSeconds = expect.toSatisfy((read) => (seconds as unknown[]).includes(read));
    await expect(opening).rejects.toMatchObject({ retryAfterSeconds });
  });
});

describe("an address at which something else answers", () => {
  it.each([
    [404, "text/html", "unimplemented", "check that baseUrl"],
    [404, "application/problem+json", "unimplemented", "check that baseUrl"],
    [403, "text/html", "permission_denied", "refuses this caller"],
    [401, "text/plain", "unauthenticated", "wants credentials"],
    [502, "text/html", "unavailable", "try again later"],
    [429, "text/html", "unavailable", "try again later"],
  ])("is told of by HTTP %d with %s as %s", async (status, type, code, message) => {
    const headers = { "content-type": type, "retry-after": "7" };
    const opening = open("en", async () => new Response("{}", { status, headers }));
    const failure = { code, message: expect.stringContaining(message), retryAfterSeconds: 7 };
    await expect(opening).rejects.toMatchObject(failure);
  });

  it.each([
    ["ECONNREFUSED", "unavailable", "check the address"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "failed_precondition", "certificate is not trusted"],
  ])("is told of when a connection fails by %s", async (code, wanted, message) => {
    const opening = open("en", () =>
      Promise.reject(
        new TypeError("fetch failed", { cause: Object.assign(new Error(), { code }) }),
      ),
    );
    await expect(opening).rejects.toMatchObject({
      code: wanted,
      message: expect.stringMatching(new RegExp(`^${BASE_URL} .*${code}.*${message}`)),
    });
  });

  it("is told of with the words of the service if it refuses", async () => {
    const refusal = { code: "resource_exhausted", message: "too much" };
    const opening = open("en", async () => Response.json(refusal, { status: 429 }));
    await expect(opening).rejects.toMatchObject(refusal);
  });
});
