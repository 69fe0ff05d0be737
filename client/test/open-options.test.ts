import { describe, expect, it } from "vitest";
import { CatalogError, openCatalog } from "../src/index.ts";
import { readBaseUrl } from "../src/base-url.ts";

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

  it.each(["foo", "", "locations.example.com", "localhost:8787", "ftp://example.com", "//"])(
    "is not %j",
    (given) => {
      const refusal = expect.objectContaining({
        name: "CatalogError",
        code: "invalid_argument",
        message: expect.stringContaining('such as "https://locations.example.com"'),
      });
      for (const page of [undefined, "https://www.example.com/"])
        expect(() => readBaseUrl(given, page)).toThrow(refusal);
    },
  );

  it("is judged when the catalog is opened, before anything is fetched", async () => {
    const fetch = () => Promise.reject(new Error("fetched"));
    const opening = openCatalog({ baseUrl: "foo", fetch });
    await expect(opening).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
