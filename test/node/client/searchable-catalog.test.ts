import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { fileStore } from "../../../client/src/file-store.ts";
import { SearchableCatalog } from "../../../client/src/searchable-catalog.ts";
import type { Store } from "../../../client/src/store.ts";
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { aCatalog, aMilan, anAirport } from "../../builders/catalog.ts";
import { CatalogService } from "../../builders/catalog-service.ts";
import { aLocationsResponse } from "../../builders/locations-response.ts";

const BASE_URL = "https://locations.example.com";
const folder = mkdtempSync(join(tmpdir(), "locations-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

function versionWith(name: string): Uint8Array<ArrayBuffer> {
  const linate = anAirport({ iata: "LIN", name: "Linate", cityId: aMilan().id });
  const catalog = aCatalog({ airports: [linate, anAirport({ name })] });
  return toBinary(LocationsResponseSchema, aLocationsResponse(catalog));
}

let stores = 0;
let store: Store;
let service: CatalogService;

beforeEach(() => {
  store = fileStore(join(folder, String(stores++)));
  service = new CatalogService({ version: 1, bytes: versionWith("Kloten") });
  service.files = {
    "ranks.json": { airports: ["ZRH"], tiers: "0", names: {}, cities: [], codes: {} },
    "names.json": { airports: { ZRH: "tsurihi" }, cities: {}, regions: {}, regionCodes: {} },
  };
});

function open(locale = "en"): Promise<SearchableCatalog> {
  return SearchableCatalog.open({ baseUrl: `${BASE_URL}/`, locale, fetch: service.fetch }, store);
}

async function find(catalog: SearchableCatalog, typed: string): Promise<string[]> {
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
        airports: ["ZRH"],
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
    expect(await catalog.search("z", 1)).toHaveLength(1);
  });

  it("joins its places", async () => {
    const { airports } = await (await open()).places();
    expect(airports.map(({ city }) => city.country.code)).toEqual(["IT", "CH"]);
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

  it("fetches the files of the search again once they have changed", async () => {
    await (await open()).refresh();
    service.files = {
      ...service.files,
      "names.json": { airports: { ZRH: "zurigo" }, cities: {}, regions: {}, regionCodes: {} },
    };
    await (await open()).refresh();
    expect(await find(await open(), "zurigo")).toContain("Kloten");
  });

  it("fetches anew what is damaged in the store", async () => {
    await open();
    await store.set(`${BASE_URL} en`, { bytes: new Uint8Array([1]), sha256: "", version: 7 });
    expect((await open()).version).toBe(1);
    await store.set(`${BASE_URL} en`, "nothing like it");
    expect((await open()).version).toBe(1);
  });

  it("needs no service once it is stored, and says so when it is refreshed", async () => {
    await open();
    service.isDown = true;
    const catalog = await open();
    await expect(catalog.refresh()).rejects.toMatchObject({
      name: "CatalogError",
      code: "unavailable",
      message: "fetch failed",
    });
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
  });

  it("works even if nothing can be stored", async () => {
    const full = async () => {
      throw new Error("the disk is full");
    };
    store = { get: full, set: full };
    expect((await open()).version).toBe(1);
  });

  it("cannot be opened without the service, and says why", async () => {
    service.isDown = true;
    await expect(open()).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: null });
  });
});

describe("a change of the language", () => {
  const german = { version: 1, bytes: versionWith("Kloten"), language: "de" };

  it("leaves the earlier language until the other one is there", async () => {
    const catalog = await open();
    service.served = german;
    const changed = catalog.setLocale("de");
    expect(catalog.language).toBe("en");
    expect(await find(catalog, "kloten")).toEqual(["Kloten"]);
    await changed;
    expect(catalog.language).toBe("de");
  });

  it("ends in the language that was wanted last", async () => {
    const catalog = await open();
    service.served = german;
    await catalog.setLocale("de");
    service.served = { ...german, language: "ja" };
    let changes = 0;
    catalog.onChange(() => changes++);
    await Promise.all([catalog.setLocale("ja"), catalog.setLocale("de")]);
    expect(catalog.language).toBe("de");
    expect(changes).toBe(1);
  });

  it("leaves the earlier language when it fails", async () => {
    const catalog = await open();
    service.isDown = true;
    await expect(catalog.setLocale("de")).rejects.toThrow("fetch failed");
    expect(catalog.language).toBe("en");
  });
});
