/** The package in Chromium: over networks that fail, with stores that do, and in several tabs. */
import { readFileSync } from "node:fs";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FAULTS, FaultyService, OTHER_NAME } from "../../../test/builders/faulty-service.ts";
import { servedPlaces } from "../../build/search-files.ts";
import { openPage, takeProblems, useBrowser } from "./browser.ts";

useBrowser();

const served = servedPlaces();
const faulty = new FaultyService(served);

/** As an application has it, which a bundler made. */
const PAGE = `
  import * as client from "./client/src/browser.ts";
  import * as noWorker from "./client/src/no-worker.ts";
  import { indexedDbMedium } from "./client/src/indexed-db-store.ts";
  import { Store } from "./client/src/store.ts";
  Object.assign(globalThis, { client, noWorker, newStore: () => new Store(indexedDbMedium()) });
`;

/** A script that was cut anywhere must not parse, so a worker's is one function, as Vite makes it. */
async function bundled(contents: string, format: "esm" | "iife"): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, loader: "ts", resolveDir: "." },
    bundle: true,
    format,
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const scripts = new Map<string, string>();

beforeAll(async () => {
  await faulty.start();
  const html =
    '<!doctype html><link rel=icon href="data:,"><script type=module src=client.js></script>';
  faulty.pages.set("/app/", { type: "text/html", text: html });
  scripts.set("client.js", await bundled(PAGE, "esm"));
  for (const name of ["worker", "search-worker"])
    scripts.set(`${name}.js`, await bundled(`import "./client/src/${name}.ts";`, "iife"));
});
beforeEach(() => {
  faulty.fault = undefined;
  faulty.spoilt = /^\/(?!app)/;
  for (const [name, text] of scripts)
    faulty.pages.set(`/app/${name}`, { type: "text/javascript", text });
});
// Chromium reports what is provoked here.
afterEach(() => void takeProblems());
afterAll(() => faulty.stop());

const OPENERS = ["openCatalog", "openSearch"] as const;

/** Has a page run code, and returns what that returns, or the error that it throws. */
function run(page: Page, code: string): Promise<unknown> {
  return page.evaluate(`(async () => {
    while (!globalThis.client) await new Promise((resolve) => setTimeout(resolve, 10));
    try { ${code} }
    catch (error) {
      const { name, code, message, retryAfterSeconds } = error;
      return { name, code, message, retryAfterSeconds };
    }
  })()`);
}

const open = (opener: string, more = "") =>
  `${opener}({ baseUrl: location.origin, timeoutMs: 2000, ${more} })`;

/** Instead of the short time. */
const PATIENT = "timeoutMs: 60_000";

const FIND = `const [found] = await search.search("${OTHER_NAME}"); return found?.countryCode;`;

const cases = FAULTS.flatMap((fault) =>
  OPENERS.map((opener) => ({ fault, opener, code: fault.code, name: fault.name })),
);

describe.each(cases)("an answer that $name", ({ fault, opener, code }) => {
  const failure = () =>
    expect.objectContaining({
      name: "CatalogError",
      code,
      message: expect.stringContaining(faulty.url),
    });

  it(`fails ${opener}, its refresh, and a search that needs names, and the copy stays`, async () => {
    const page = await openPage(`${faulty.url}/app/`);
    const timeout = code === "deadline_exceeded" ? "timeoutMs: 4000" : PATIENT;
    faulty.fault = fault;
    expect(await run(page, `return await client.${open(opener, timeout)}`)).toEqual(failure());
    faulty.fault = undefined;
    const opened = `globalThis.search = await client.${open(opener, `${timeout}, lazyNames: true`)}`;
    expect(await run(page, `${opened}; return search.lastError`)).toBeNull();
    faulty.fault = fault;
    expect(await run(page, "await search.refresh()")).toEqual(failure());
    expect(await run(page, "throw search.lastError")).toEqual(failure());
    expect(await run(page, FIND)).toEqual(failure());
    const found = `const [found] = await search.search("ZRH"); return found.airports`;
    expect(await run(page, found)).toEqual(["ZRH"]);
    faulty.fault = undefined;
    expect(await run(page, "await search.refresh(); return search.lastError")).toBeNull();
  });
});

describe("a worker's script", () => {
  it.each(FAULTS)(
    "whose answer $name fails both openers, which can be called again",
    async ({ send, ...fault }) => {
      const page = await openPage(`${faulty.url}/app/`);
      for (const opener of OPENERS) {
        faulty.spoilt = /worker\.js$/;
        faulty.fault = { ...fault, send };
        // One that is empty runs, and says nothing.
        const code = fault.name === "is empty" ? "deadline_exceeded" : fault.code;
        const timeout = code === "deadline_exceeded" ? "" : PATIENT;
        const failed = await run(page, `await client.${open(opener, timeout)}`);
        expect(failed).toMatchObject({ name: "CatalogError", code });
        expect(failed).toMatchObject({ message: expect.stringMatching(/try again/) });
        faulty.fault = undefined;
        expect(
          await run(page, `const search = await client.${open(opener, PATIENT)}; ${FIND}`),
        ).toBe("CH");
      }
    },
  );

  it("of another origin, as on a CDN, is refused with what to do, which works", async () => {
    const site = new FaultyService(served);
    await site.start();
    site.pages.set("/", { type: "text/html", text: "<!doctype html><link rel=icon href=data:,>" });
    const page = await openPage(site.url);
    const cdn = `${faulty.url}/app`;
    await page.evaluate(`import("${cdn}/client.js")`);
    expect(await run(page, `await client.${open("openSearch")}`)).toMatchObject({
      name: "CatalogError",
      code: "failed_precondition",
      message: expect.stringContaining("CDN: see startWorker"),
    });
    const readme = readFileSync("client/README.md", "utf8");
    const [, documented = ""] = /^(const script = .*?)^const picker/ms.exec(readme) ?? [];
    const code = documented.replace("https://cdn.example.com/dist/client/src", cdn);
    const search = `const search = await client.${open("openSearch", `${PATIENT}, startWorker`)}`;
    expect(await run(page, `${code}; ${search}; ${FIND}`)).toBe("CH");
    site.stop();
  });
});

/** Spoils the store of the workers, by code that runs before theirs. */
const STORES = {
  "never opens": "IDBFactory.prototype.open = () => new EventTarget()",
  "is refused": `IDBFactory.prototype.open = () => { throw new DOMException("", "SecurityError") }`,
  "is not there": "delete globalThis.indexedDB; delete IDBFactory.prototype.open",
  "is full": `IDBObjectStore.prototype.put = () => { throw new DOMException("", "QuotaExceededError") }`,
  "never reads": "IDBObjectStore.prototype.get = () => new EventTarget()",
  "never lists": "IDBObjectStore.prototype.getAllKeys = () => new EventTarget()",
};

/** What others have made of the database before. */
const DATABASES = {
  "of a later version": [9, "copies"],
  "of other objects": [2, "values"],
  "of the former version": [1, "values"],
} as const;

describe.each(OPENERS)("%s", (opener) => {
  const found = `const search = await client.${open(opener, `${PATIENT}, lazyNames: false`)}; ${FIND}`;

  it.each(Object.entries(STORES))("works with a store that %s", async (_, spoil) => {
    for (const [name, text] of scripts)
      if (name !== "client.js")
        faulty.pages.set(`/app/${name}`, { type: "text/javascript", text: `${spoil};\n${text}` });
    const page = await openPage(`${faulty.url}/app/`);
    const startedAt = performance.now();
    expect(await run(page, found)).toBe("CH");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it.each(Object.entries(DATABASES))("works with a database %s", async (_, [version, objects]) => {
    const page = await openPage(`${faulty.url}/app/`);
    await run(
      page,
      `await new Promise((resolve) => {
        const request = indexedDB.open("locations-at-the-edge", ${version});
        request.onupgradeneeded = () => request.result.createObjectStore("${objects}");
        request.onsuccess = () => resolve(request.result.close());
      })`,
    );
    expect(await run(page, found)).toBe("CH");
    expect(await run(page, found)).toBe("CH");
  });

  it("takes a path for its address, with a worker and without one", async () => {
    const page = await openPage(`${faulty.url}/app/`);
    for (const door of ["client", "noWorker"])
      expect(
        await run(page, `const search = await ${door}.${opener}({ baseUrl: "/" }); ${FIND}`),
      ).toBe("CH");
  });

  it("lets others delete its database, and stores again", async () => {
    const page = await openPage(`${faulty.url}/app/`);
    expect(await run(page, found)).toBe("CH");
    const deleted = `return await new Promise((resolve) => {
      const request = indexedDB.deleteDatabase("locations-at-the-edge");
      request.onsuccess = () => resolve("deleted");
    })`;
    expect(await run(page, deleted)).toBe("deleted");
    const other = await page.context().newPage();
    await other.goto(`${faulty.url}/app/`);
    expect(await run(other, found)).toBe("CH");
    await other.close();
    faulty.fault = FAULTS[0];
    const third = await page.context().newPage();
    await third.goto(`${faulty.url}/app/`);
    expect(await run(third, found)).toBe("CH");
  });

  it("works while a deletion of its database waits for a tab that does not close it", async () => {
    const page = await openPage(`${faulty.url}/app/`);
    await run(
      page,
      `await new Promise((resolve) => {
        const request = indexedDB.open("locations-at-the-edge", 2);
        request.onsuccess = resolve;
      });
      indexedDB.deleteDatabase("locations-at-the-edge");`,
    );
    const other = await page.context().newPage();
    await other.goto(`${faulty.url}/app/`);
    const startedAt = performance.now();
    expect(await run(other, found)).toBe("CH");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("is right again after a tab that was closed before the names had come", async () => {
    const page = await openPage(`${faulty.url}/app/`);
    faulty.spoilt = /names\.json$/;
    faulty.fault = FAULTS.find(({ name }) => name === "never comes");
    void run(page, found).catch(() => undefined);
    await expect.poll(() => faulty.service.calls.includes("GET names.json")).toBe(true);
    const other = await page.context().newPage();
    await page.close();
    faulty.fault = undefined;
    await other.goto(`${faulty.url}/app/`);
    expect(await run(other, found)).toBe("CH");
  });
});

it("a store in IndexedDB keeps the newer copy, and the locales that were used last", async () => {
  const page = await openPage(`${faulty.url}/app/`);
  const aCopy = `const aCopy = (version) => ({ version, lookedAt: 5, files: {} });`;
  const versions = await run(
    page,
    `${aCopy}
    const [one, other] = [newStore(), newStore()];
    const seen = [await one.read("a b")];
    for (const [store, version] of [[one, 1], [other, 2], [one, 1]]) {
      await store.write("a b", aCopy(version));
      seen.push((await other.read("a b")).version);
    }
    await one.write("a c", aCopy(1));
    await one.keepLastUsed("a", "a b", 1);
    return [...seen, await other.read("a c"), ...(await other.lastUsed("a"))];`,
  );
  expect(versions).toEqual([undefined, 1, 2, 2, undefined, "a b"]);
});

it("a store in IndexedDB opens its database again once it was deleted, and deletes a former one", async () => {
  const page = await openPage(`${faulty.url}/app/`);
  const seen = await run(
    page,
    `const settled = (request, onUpgrade = () => undefined) => new Promise((resolve) => {
      request.onupgradeneeded = () => onUpgrade(request.result);
      request.onsuccess = () => resolve(request.result);
    });
    const name = "locations-at-the-edge";
    (await settled(indexedDB.open(name, 1), (former) => former.createObjectStore("values"))).close();
    const store = newStore();
    const seen = [];
    for (const version of [1, 2]) {
      await store.write("a", { version, lookedAt: 5, files: {} });
      seen.push((await store.read("a"))?.version);
      const database = await settled(indexedDB.open(name));
      seen.push(...database.objectStoreNames);
      database.close();
      await settled(indexedDB.deleteDatabase(name));
    }
    return seen;`,
  );
  expect(seen).toEqual([1, "copies", 2, "copies"]);
});

it("the last text wins, and a signal ends an opening and a search", async () => {
  const page = await openPage(`${faulty.url}/app/`);
  faulty.spoilt = /names\.json$/;
  faulty.fault = FAULTS.find(({ name }) => name === "never comes");
  const results = await run(
    page,
    `const opening = client.openSearch({ baseUrl: location.origin });
    const type = client.takeLatest((typed, signal) =>
      opening.then((picker) => picker.search(typed, { signal })));
    const all = await Promise.all(["東京", "zur", "zurich"].map(type));
    const picker = await opening;
    const reasonOf = (work) => work.catch((reason) => reason.name);
    const search = new AbortController();
    const searching = reasonOf(picker.search("東京", { signal: search.signal }));
    search.abort();
    const { signal } = search;
    return [
      all.map((found) => found && found[0].countryCode),
      await searching,
      await reasonOf(picker.search("zurich", { signal })),
      await reasonOf(client.openCatalog({ baseUrl: location.origin, signal })),
    ];`,
  );
  const stale = null;
  expect(results).toEqual([[stale, stale, "CH"], "AbortError", "AbortError", "AbortError"]);
});
