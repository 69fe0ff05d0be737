import { afterEach, describe, expect, it, vi } from "vitest";
import { CatalogError, openCatalog } from "../src/index.ts";
import { readBaseUrl, readLocale } from "../src/open-options.ts";

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
    undefined,
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
