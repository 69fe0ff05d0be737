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
let catalog: LocationsCatalog;

/** Node asks for brotli over HTTPS alone. */
const withBrotli: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { "accept-encoding": "br" } });

beforeAll(async () => {
  proxy = await CountingProxy.start(url);
  catalog = await openCatalog({ baseUrl: proxy.url, locale: "en", folder, fetch: withBrotli });
});

afterAll(() => proxy.stop());
afterAll(() => rmSync(folder, { recursive: true }));

it.each(locales.filter((locale) => locale !== "en"))(
  "an open catalog changes to %s for at most 20 kB, headers included",
  async (locale) => {
    expect(proxy.takeBytes()).toBeGreaterThan(0);
    await catalog.setLocale(locale);
    expect(catalog.language).toBe(locale);
    expect(proxy.takeBytes()).toBeLessThanOrEqual(20_000);
    await catalog.refresh();
  },
);
