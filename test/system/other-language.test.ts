import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { LocationsCatalog } from "../../client/src/api.ts";
import { openCatalog } from "../../client/src/node.ts";
import { CountingProxy } from "../builders/counting-proxy.ts";

const { url, locales } = inject("service");
const folder = mkdtempSync(join(tmpdir(), "locations-language-"));
let proxy: CountingProxy;
/** For the names of cities. */
let beside: CountingProxy;
let catalog: LocationsCatalog;

/** Node asks for brotli over HTTPS alone. */
const withBrotli: typeof fetch = (input, init) => {
  const address = input instanceof Request ? input.url : String(input);
  const isOfCities = address.includes("/search/v1/cities/");
  const target = isOfCities ? address.replace(proxy.url, beside.url) : address;
  return fetch(target, { ...init, headers: { "accept-encoding": "br" } });
};

beforeAll(async () => {
  proxy = await CountingProxy.start(url);
  beside = await CountingProxy.start(url);
  catalog = await openCatalog({ baseUrl: proxy.url, locale: "en", folder, fetch: withBrotli });
});

afterAll(() => beside.stop());
afterAll(() => proxy.stop());
afterAll(() => rmSync(folder, { recursive: true }));

it.each(locales.filter((locale) => locale !== "en"))(
  "an open catalog changes to %s for at most 20 kB, and 8 kB with names of cities, headers included",
  async (locale) => {
    expect(proxy.takeBytes()).toBeGreaterThan(0);
    await catalog.setLocale(locale);
    expect(catalog.language).toBe(locale);
    expect(proxy.takeBytes()).toBeLessThanOrEqual(20_000);
    expect(beside.takeBytes()).toBeLessThanOrEqual(8_000);
    await catalog.refresh();
    beside.takeBytes();
  },
);
