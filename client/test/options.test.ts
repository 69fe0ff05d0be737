import { afterEach, describe, expect, it, vi } from "vitest";
import {
  CatalogError,
  type LocationsSearch,
  openCatalog,
  type OpenOptions,
  openSearch,
} from "../src/index.ts";
import * as node from "../src/node.ts";
import { openFrom } from "../src/picker.ts";
import { readBaseUrl, readLocale } from "../src/options.ts";
import { openRemote } from "../src/worker-link.ts";
import { servedPlaces } from "../../web/build/search-files.ts";

const served = servedPlaces();
const ZURICH = { lat: 47.38, lon: 8.54 };

afterEach(() => vi.unstubAllGlobals());

describe("the address of a service", () => {
  it.each([
    ["https://locations.example.com", "https://locations.example.com"],
    ["http://127.0.0.1:8787/", "http://127.0.0.1:8787"],
    ["https://example.com/locations/", "https://example.com/locations"],
  ])("may be %s", (given, read) => {
    expect(readBaseUrl(given)).toBe(read);
  });

  it("may be a path in a page, whose origin it then has", () => {
    expect(readBaseUrl("/", "https://www.example.com/search?q=x")).toBe("https://www.example.com");
    expect(() => readBaseUrl("/")).toThrow(CatalogError);
  });

  it.each([
    ["foo", '"foo" is not'],
    ["", '"" is not'],
    ["locations.example.com", "is not the address"],
    ["localhost:8787", "is not the address"],
    ["ftp://example.com", "is not the address"],
    ["//", "is not the address"],
    [undefined, "is undefined"],
    [new URL("https://example.com"), "is a URL (its href"],
    ["https://example.com/?x", "has a part after its path"],
    ["https://example.com/#x", "has a part after its path"],
    ["https://user:secret@example.com", "has a user name"],
    ["user:secret@example.com", '"…@example.com" is not'],
  ])("is not %s", (given, what) => {
    for (const page of [undefined, "https://www.example.com/"]) {
      const refusal = expect.objectContaining({
        name: "CatalogError",
        code: "invalid_argument",
        message: expect.stringMatching(/^baseUrl (?!.*secret).*such as "https:/),
      });
      expect(() => readBaseUrl(given, page)).toThrow(refusal);
      expect(() => readBaseUrl(given, page)).toThrow(what);
    }
  });

  it("is judged when the catalog is opened, before anything is fetched", async () => {
    const fetch = () => Promise.reject(new Error("fetched"));
    const opening = openCatalog({ baseUrl: "foo", fetch });
    await expect(opening).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("a language", () => {
  it.each(["de", "de-AT", "pt_BR", "zh-yue", "x-private", "i-klingon", "en-GB-oed"])(
    "may be %s",
    (tag) => expect(readLocale(tag)).toBe(tag),
  );

  it.each([
    "",
    "C",
    "C.UTF-8",
    "en-US@posix",
    "en_US.UTF-8",
    "not a tag",
    "*",
    "x",
    `de-${"a".repeat(8)}-${"b".repeat(8)}-${"c".repeat(8)}-${"d".repeat(8)}`,
  ])("is the default's instead of %s", (none) => expect(readLocale(none)).toBe(""));
});

describe("an argument of the wrong kind", () => {
  const baseUrl = "https://locations.example.com";
  const fetch = () => Promise.reject(new Error("fetched"));
  const page = { page: "https://www.example.com/", startOwnWorker: () => given({}) };
  const openers: readonly ((options: OpenOptions) => Promise<unknown>)[] = [
    openCatalog,
    openSearch,
    node.openCatalog,
    node.openSearch,
    // As the door of browsers has it.
    (options) => openRemote("open", options, page),
    (options) => openRemote("openSearch", options, page),
  ];
  /** As JavaScript passes it. */
  const given = (value: unknown) => value as never;

  it.each<readonly [name: string, wrong: unknown, right: string]>([
    ["the options", undefined, "baseUrl"],
    ["the options", null, "baseUrl"],
    ["the options", "https://locations.example.com", "baseUrl"],
    ["locale", { locale: null }, '"de"'],
    ["locale", { locale: 5 }, '"de"'],
    ["timeoutMs", { timeoutMs: Infinity }, "1 to 86400000"],
    ["timeoutMs", { timeoutMs: 1e12 }, "1 to 86400000"],
    ["timeoutMs", { timeoutMs: NaN }, "1 to 86400000"],
    ["timeoutMs", { timeoutMs: 0 }, "1 to 86400000"],
    ["timeoutMs", { timeoutMs: "5s" }, "1 to 86400000"],
    ["timeoutMs", { timeoutMs: null }, "1 to 86400000"],
    ["storedLocales", { storedLocales: -1 }, "whole number from 0"],
    ["storedLocales", { storedLocales: 1.5 }, "whole number from 0"],
    ["lazyNames", { lazyNames: "yes" }, "true or false"],
    ["folder", { folder: "" }, "path of a folder"],
    ["folder", { folder: 7 }, "path of a folder"],
    ["startWorker", { startWorker: "worker.js" }, "function"],
    ["fetch", { fetch: "GET" }, "function"],
    ["signal", { signal: {} }, "AbortSignal"],
    ["signal", { signal: { aborted: false } }, "AbortSignal"],
    ["signal", { signal: { aborted: true, throwIfAborted: () => undefined } }, "AbortSignal"],
  ])("of opening, %s as %o, is refused by its name", async (name, wrong, right) => {
    const options = typeof wrong === "object" && wrong ? { baseUrl, fetch, ...wrong } : wrong;
    for (const open of openers)
      await expect(open(given(options))).rejects.toMatchObject(refusalOf(name, right));
  });

  it.each<readonly [string, (search: LocationsSearch) => Promise<unknown>, string]>([
    ["typed", (search) => search.search(given(null)), "text"],
    ["typed", (search) => search.search(given(undefined)), "text"],
    ["limit", (search) => search.search("a", { limit: -1 }), "whole number from 0"],
    ["limit", (search) => search.search("a", { limit: NaN }), "whole number from 0"],
    ["limit", (search) => search.search("a", { limit: 1.5 }), "whole number from 0"],
    ["the options of a search", (search) => search.search("a", given(3)), "{ limit: 5 }"],
    ["the options of a search", (search) => search.search("a", given(null)), "{ limit: 5 }"],
    ["signal", (search) => search.search("a", given({ signal: 1 })), "AbortSignal"],
    ["the key of a place", (search) => search.get(given(null)), '"MUC"'],
    ["locale", (search) => search.setLocale(given(null)), '"de"'],
    ["locale", (search) => search.setLocale(given(undefined)), '"de"'],
    ["position", (search) => search.nearest(given(undefined)), "{ lat, lon }"],
    ["limit", (search) => search.nearest(ZURICH, { limit: -1 }), "whole number from 0"],
    ["withinKm", (search) => search.nearest(ZURICH, { withinKm: NaN }), "kilometers from 0"],
    ["withinKm", (search) => search.nearest(ZURICH, given({ withinKm: "5" })), "kilometers"],
    ["the listener", async (search) => search.onChange(given(null)), "a function"],
  ])("of a search, %s, is refused by its name (%#)", async (name, call, right) => {
    const search = await openFrom({ served });
    await expect(call(search)).rejects.toMatchObject(refusalOf(name, right));
  });

  it.each<readonly [name: string, wrong: unknown, right: string]>([
    ["the data", undefined, "{ served }"],
    ["the data", null, "{ served }"],
    ["the data", "served.json", "{ served }"],
    ["served", { served: undefined }, "/search/v1/served.json"],
    ["served", { served: {} }, "/search/v1/served.json"],
    ["served", { served: { ...served, members: [[99_999]] } }, "/search/v1/served.json"],
    ["names", { names: 5 }, "/search/v1/names.json"],
    ["names", { names: null }, "/search/v1/names.json"],
    ["cities", { cities: [] }, "/search/v1/cities/<locale>.json"],
    ["locale", { locale: null }, '"de"'],
    ["locale", { locale: 5 }, '"de"'],
  ])("of data, %s, is refused by its name (%#)", async (name, wrong, right) => {
    const data = typeof wrong === "object" && wrong ? { served, ...wrong } : wrong;
    await expect(openFrom(given(data))).rejects.toMatchObject(refusalOf(name, right));
  });

  function refusalOf(name: string, right: string) {
    const escaped = right.replaceAll(/[{}]/g, "\\$&");
    const message = expect.stringMatching(new RegExp(`^${name} must be .*${escaped}.*, and is `));
    return { name: "CatalogError", code: "invalid_argument", message };
  }
});

describe("a page where the package cannot work", () => {
  const options = { baseUrl: "https://locations.example.com" };

  it("is told that it lacks crypto.subtle", async () => {
    vi.stubGlobal("crypto", {});
    await expect(openCatalog(options)).rejects.toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("only in pages from https:// or localhost"),
    });
  });
});
