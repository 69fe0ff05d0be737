/** What a network can do, against everything that asks it, in Node. The same in a browser: `client-package.test.ts` of `web`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import * as node from "../src/node.ts";
import * as noStore from "../src/index.ts";
import {
  FAULTS,
  FaultyService,
  OTHER_NAME,
  refusingHead,
} from "../../test/builders/faulty-service.ts";
import { servedPlaces } from "../../web/build/search-files.ts";

const served = servedPlaces();
const folder = mkdtempSync(join(tmpdir(), "locations-failures-"));
let stores = 0;

afterAll(() => rmSync(folder, { recursive: true }));

const OPENERS = {
  "openCatalog in Node": node.openCatalog,
  "openSearch in Node": node.openSearch,
  "openCatalog without a store": noStore.openCatalog,
  "openSearch without a store": noStore.openSearch,
};

const cases = FAULTS.flatMap((fault) =>
  Object.entries(OPENERS).map(([opener, open]) => ({ fault, opener, open, ...fault })),
);

it.concurrent.for(cases)(
  "an answer that $name fails $opener, its refresh, and a search that needs names, and the copy stays",
  async ({ fault, open, code }, { onTestFinished }) => {
    const faulty = new FaultyService(served);
    await faulty.start();
    onTestFinished(() => faulty.stop());
    const told = {
      name: "CatalogError",
      code,
      message: expect.stringContaining(faulty.url),
      retryAfterSeconds: fault.name.includes("503") ? 7 : null,
    };
    const options = {
      baseUrl: faulty.url,
      folder: join(folder, String(stores++)),
      // Longer than a whole answer takes on a busy machine.
      timeoutMs: code === "deadline_exceeded" ? 4000 : 60_000,
      lazyNames: true,
    };
    faulty.fault = fault;
    await expect(open(options)).rejects.toMatchObject(told);

    faulty.fault = undefined;
    const search = await open(options);
    const { lastRefreshed } = search;
    expect(search.lastError).toBeNull();
    let changes = 0;
    search.onChange(() => changes++);
    faulty.fault = fault;
    await expect(search.refresh()).rejects.toMatchObject(told);
    expect(search.lastError).toMatchObject(told);
    expect(changes).toBe(1);
    expect(search.lastRefreshed).toEqual(lastRefreshed);
    await expect(search.search(OTHER_NAME)).rejects.toMatchObject(told);
    expect((await search.search("ZRH"))[0]).toMatchObject({ airports: ["ZRH"] });

    // From now on, it has names.
    faulty.spoilt = /names\.json$/;
    await expect(search.refresh()).rejects.toMatchObject(told);
    expect(search.lastRefreshed).toEqual(lastRefreshed);
    faulty.fault = undefined;
    await search.refresh();
    expect(search.lastError).toBeNull();
    expect(search.lastRefreshed.getTime()).toBeGreaterThan(lastRefreshed.getTime());
    expect((await search.search(OTHER_NAME))[0]).toMatchObject({ countryCode: "CH" });
  },
);

const headCases = Object.entries(OPENERS).flatMap(([opener, open]) =>
  [403, 405, 501].map((status) => ({ opener, open, status })),
);

it.concurrent.for(headCases)(
  "a proxy that answers a HEAD with $status does not keep $opener from its refresh",
  async ({ open, status }, { onTestFinished }) => {
    const faulty = new FaultyService(served);
    await faulty.start();
    onTestFinished(() => faulty.stop());
    faulty.fault = refusingHead(status);
    const search = await open({ baseUrl: faulty.url, folder: join(folder, String(stores++)) });
    const { lastRefreshed } = search;
    await search.refresh();
    expect(search.lastRefreshed.getTime()).toBeGreaterThan(lastRefreshed.getTime());
  },
);

it.each(Object.entries(OPENERS))(
  "a fetch that returns a network error fails %s",
  async (_, open) => {
    const options = { baseUrl: "https://example.com", folder: join(folder, String(stores++)) };
    await expect(open({ ...options, fetch: async () => Response.error() })).rejects.toMatchObject({
      name: "CatalogError",
      code: "unavailable",
      message: expect.stringContaining("https://example.com"),
    });
  },
);

it.each(Object.entries(OPENERS))(
  "a fetch that returns no Response is the caller's mistake to %s",
  async (_, open) => {
    const options = { baseUrl: "https://example.com", folder: join(folder, String(stores++)) };
    for (const returned of [undefined, null, "text", {}]) {
      const fetch = (async () => returned) as unknown as typeof globalThis.fetch; // in JavaScript
      await expect(open({ ...options, fetch })).rejects.toMatchObject({
        name: "CatalogError",
        code: "invalid_argument",
        message: expect.stringContaining("the result of the option fetch must be a Response"),
      });
    }
  },
);
