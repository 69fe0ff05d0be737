import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import {
  faultsInAllColors,
  newPage,
  openPage,
  seriousFaults,
  takeProblems,
  useBrowser,
} from "./browser.ts";
import { factOf, MAP_COPY, openCall, waitForAnswer } from "./explorer-page.ts";

useBrowser();

/** How the Caribbean is called, and written, in two locales. */
const CARIBBEAN = [
  ["de", "Karibik", "ltr"],
  ["ar", "الكاريبي", "rtl"],
] as const;

const SLOW_NETWORK = {
  offline: false,
  latency: 100,
  downloadThroughput: 100_000,
  uploadThroughput: 100_000,
};

/** Whether what has the focus has an outline, or a label that has it. */
const FOCUS_IS_SEEN = `{
  const shown = document.activeElement.nextElementSibling;
  [document.activeElement, shown].some((e) => e && getComputedStyle(e).outlineStyle === "solid");
}`;

describe.each(["Connect GET", "Connect", "gRPC-Web"])("the explorer over %s", (protocol) => {
  it("shows the catalog in the chosen locale, identical to that from JSON", async () => {
    const page = await openPage("/?region=caribbean");
    await openCall(page);
    await page.getByRole("radio", { name: protocol, exact: true }).check();
    const heading = page.getByRole("heading", { level: 1 }).locator("bdi");
    for (const [locale, name, direction] of CARIBBEAN) {
      await page.locator(".side-top select").selectOption(locale);
      await waitForAnswer(page, locale);
      expect(await heading.textContent()).toContain(name);
      expect(await heading.getAttribute("lang")).toBe(locale);
      await page.locator(`html[lang="${locale}"][dir="${direction}"]`).waitFor();
      expect(await factOf(page, "Status")).toMatch(/^200 ok(GET|POST)$/);
      expect(await factOf(page, "On the wire")).toMatch(/MB decoded$/);
      expect(await factOf(page, "Version")).toMatch(/^\d+[0-9a-f]{10}$/);
    }
    const proto = await page.locator(".place").textContent();
    await page.getByRole("radio", { name: "JSON" }).check();
    await expect.poll(() => factOf(page, "On the wire")).toMatch(/3\.\d+ MB decoded$/);
    expect(await page.locator(".place").textContent()).toBe(proto);
  });
});

/** Whether a color is on the map: that of removed airports, say. */
function isOnMap(page: Page, color: readonly [red: number, green: number, blue: number]) {
  return page.evaluate<boolean>(`{
    const map = ${MAP_COPY};
    const { width, height } = map.canvas;
    const { data } = map.getImageData(0, 0, width, height);
    const isAt = (at) => ${JSON.stringify(color)}.every((value, channel) => data[at + channel] === value);
    Array.from({ length: width * height }, (_, pixel) => pixel * 4).some(isAt);
  }`);
}

describe("the explorer", () => {
  it("downloads again only what has changed over Connect GET", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await openCall(page);
    await page.getByRole("button", { name: "Call again" }).click();
    await page.locator(".call-fact", { hasText: "not modified" }).waitFor();
    expect(await factOf(page, "On the wire")).toMatch(/^\d+ B/);
    expect(await factOf(page, "Compression")).not.toContain("smaller");
    expect(await page.locator(".counts").textContent()).toContain(
      manifest.counts.airports.toLocaleString("en"),
    );
  });

  it("shows on a slow network what has arrived before the regions, and then the region of the link", async () => {
    const page = await newPage();
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", SLOW_NETWORK);
    await page.goto("/?region=caribbean");
    await page.getByRole("heading", { name: /^Countries/ }).waitFor();
    expect(await page.locator(".place-list").count()).toBe(1);
    await page.locator('.map-canvas:not([data-points="0"])').waitFor();
    expect(await page.getByText("The catalog has no such").count()).toBe(0);
    await page.getByRole("heading", { level: 1, name: "Caribbean" }).waitFor();
    expect(await page.getByRole("heading", { name: /^Airports/ }).count()).toBe(1);
  });

  it("shows the transferred size even if the browser measures it late", async () => {
    const page = await newPage();
    await page.addInitScript(`
      const measured = performance.getEntriesByName.bind(performance);
      let requestedAt;
      performance.getEntriesByName = (...names) => {
        requestedAt ??= performance.now();
        return performance.now() - requestedAt < 1_000 ? [] : measured(...names);
      };
    `);
    await page.goto("/");
    await waitForAnswer(page, "en");
    expect(await factOf(page, "On the wire")).toMatch(/MB decoded$/);
  });

  it("names each language in itself, also those that the browser does not know", async () => {
    const page = await newPage();
    const locales = ["ccp", "de", "en", "eu", "hy"].map((locale) => ({ locale }));
    await page.route("**/catalog/health", (route) => route.fulfill({ json: { locales } }));
    await page.goto("/");
    const options = page.locator(".side-top select").locator("option");
    const names = ["Deutsch", "English", "euskara", "հայերեն", "𑄌𑄋𑄴𑄟𑄳𑄦"];
    await expect.poll(async () => (await options.allTextContents()).toSorted()).toEqual(names);
  });

  it("has its heading before its scripts, and neither moves nor draws it again when the catalog comes", async () => {
    const page = await newPage({ viewport: { width: 360, height: 740 } });
    await page.addInitScript(`{
      window.shift = 0;
      const add = (list) => list.getEntries().forEach(({ value }) => (window.shift += value));
      new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    }`);
    const release = Promise.withResolvers<void>();
    await page.route("**/*.js", async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.goto("/", { waitUntil: "commit" });
    await page.getByRole("heading", { level: 1, name: "The world in one call" }).waitFor();
    await page.evaluate(`{
      window.moved = [];
      const first = new Set(document.querySelectorAll(".explorer, .explorer *"));
      new MutationObserver((list) => {
        const removed = list.flatMap(({ removedNodes }) => [...removedNodes]);
        window.moved.push(...removed.filter((node) => first.has(node)).map(({ outerHTML }) => outerHTML));
      }).observe(document.querySelector("main"), { childList: true, subtree: true });
    }`);
    release.resolve();
    await waitForAnswer(page, "en");
    await page.locator(".place-list").first().waitFor({ state: "attached" });
    expect(await page.evaluate("window.moved")).toEqual([]);
    expect(await page.evaluate("window.shift")).toBeLessThan(0.01);
  });

  it("requests the catalog in the browser's language before its scripts are loaded", async () => {
    const page = await newPage({ locale: "ja-JP" });
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.goto("/?region=caribbean");
    await waitForAnswer(page, "ja");
    const calls = requested.filter((path) => path.startsWith("/locations.v1."));
    expect(calls).toHaveLength(1);
    expect(requested.findIndex((path) => path.endsWith(".js"))).toBeGreaterThan(-1);
    await page.getByRole("heading", { level: 1, name: "カリブ" }).waitFor();
  });

  it("works by keyboard alone from the first control to the last, without losing the focus", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    const passed: string[] = [];
    const focused =
      "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()";
    for (let name = ""; name !== "Copy this call"; passed.push(name)) {
      await page.keyboard.press("Tab");
      name = await page.evaluate<string>(focused);
      expect(await page.evaluate(FOCUS_IS_SEEN), name).toBe(true);
      if (name.startsWith("The call")) await page.keyboard.press("Enter");
    }
    expect(passed.slice(0, 8)).toEqual([
      "Skip to content",
      "Locations at the Edge",
      "Explorer",
      "Docs",
      "Dashboard",
      "Search airports, cities, countries and regions",
      "Language",
      "United States",
    ]);
    expect(passed.slice(-9, -1).map((name) => name.slice(0, 10))).toEqual([
      "Map of 9,1",
      "Zoom in",
      "Zoom out",
      "Whole worl",
      "The call C",
      "",
      "",
      "Call again",
    ]);
    await page.getByRole("button", { name: "Show all 250" }).press("Enter");
    await expect.poll(() => page.evaluate(focused)).toBe("Argentina");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(focused)).toBe("Argentina");
    await page.getByRole("button", { name: "Close" }).press("Enter");
    expect(await page.evaluate("document.activeElement.className")).toBe("side-scroll");
  });

  it("links an airport to its city, country and region, and these back to the airport", async () => {
    const page = await openPage("/?airport=GVA");
    const heading = page.getByRole("heading", { level: 1 });
    await heading.getByText("Geneva").waitFor();
    await page.locator(".facts").getByRole("link", { name: "Geneva", exact: true }).click();
    await page.locator(".eyebrow", { hasText: "city" }).waitFor();
    await page.locator(".facts", { hasText: "GeoNames 2660646" }).waitFor();
    await page.locator(".facts").getByRole("link", { name: "Switzerland" }).click();
    await page.locator(".eyebrow", { hasText: "country" }).waitFor();
    await page.locator(".place-list").getByRole("link", { name: "Western Europe" }).click();
    await page.locator(".eyebrow", { hasText: "region" }).waitFor();
    expect(page.url()).toContain("?region=");
    await page.goBack();
    await heading.getByText("Switzerland").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await heading.getByText("The world").waitFor();
  });

  it("leads from a country without airports to those nearest to it, on the map as well", async () => {
    const page = await openPage("/?country=AD");
    await page.getByText("There is no airport here.").waitFor();
    const nearest = page.locator(".place-list li").first();
    expect(await nearest.textContent()).toMatch(/^LEU.+\d km$/);
    await expect.poll(() => isOnMap(page, [194, 65, 12])).toBe(true);
    await nearest.getByRole("link").click();
    await page.locator(".eyebrow", { hasText: "airport" }).waitFor();
  });

  it("lists the regions of a city's own country first", async () => {
    const page = await openPage("/?city=new-york-5128581");
    const regions = page.locator(".place-list", { hasText: "Regions" }).getByRole("link");
    await regions.first().waitFor();
    expect((await regions.allTextContents()).slice(0, 2)).toEqual(["New York", "New Jersey"]);
  });

  it("opens each link that it made at the same place", async () => {
    const page = await openPage("/?city=&airport=nrt&locale=ja&protocol=grpc-web&encoding=json");
    await page.getByRole("heading", { level: 1, name: "Narita" }).waitFor();
    await openCall(page);
    expect(await page.getByRole("radio", { name: "gRPC-Web" }).isChecked()).toBe(true);
    expect(await page.getByRole("radio", { name: "JSON" }).isChecked()).toBe(true);
    await expect.poll(() => page.locator(".side-top select").inputValue()).toBe("ja");
    await page.locator(".facts a").first().click();
    await page.locator(".eyebrow", { hasText: "都市" }).waitFor();
    const link = page.url();
    const again = await openPage(link);
    await again.locator(".eyebrow", { hasText: "都市" }).waitFor();
    expect(again.url()).toBe(link);
  });

  it("shows the messages of a place as they are in the answer, with those that they join", async () => {
    const page = await openPage("/?airport=ZRH");
    await page.getByText("The answer itself").click();
    const answer = page.locator(".answer");
    await answer.getByText("joined by City.country_id").waitFor();
    expect(await answer.locator("pre").first().textContent()).toContain("iata     12 03 5a 52 48");
    await answer.getByRole("radio", { name: "JSON" }).check();
    expect(await answer.locator("pre").first().textContent()).toContain('"iata": "ZRH"');
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
  });

  it("shows on the map what the last version has changed", async () => {
    const page = await newPage();
    await page.route("**/GetLocationsV1*", async (route) => {
      const response = await route.fetch();
      const { "content-encoding": _, "content-length": __, ...headers } = response.headers();
      const body = await response.body();
      await route.fulfill({ headers: { ...headers, "catalog-version": "7" }, body });
    });
    const none = { counts: { added: 0, changed: 0, removed: 0 } };
    const same = { ...none, added: [], changed: [], removed: [] };
    const zurich = { id: "d6c5e9f2-5c0b-8d0e-8001-000000004505" };
    const gone = { id: "gone", iata: "QQQ", name: "Gone Airport", lat: 47.2, lon: 8.9 };
    const airports = {
      counts: { added: 0, changed: 1, removed: 1 },
      added: [],
      changed: [zurich],
      removed: [gone],
    };
    await page.route("**/catalog/diff?from=6&locale=en", (route) =>
      route.fulfill({
        json: {
          to: { published_at: "2026-11-23T20:00:00Z" },
          airports,
          cities: same,
          countries: same,
          regions: same,
        },
      }),
    );
    await page.goto("/");
    await page.getByRole("button", { name: "What version 7 changed" }).click();
    await page.getByText("Gone Airport").waitFor();
    await page.getByText("removed", { exact: true }).last().waitFor();
    await expect.poll(() => isOnMap(page, [163, 18, 63])).toBe(true);
    expect(await page.getByRole("row", { name: "airports" }).textContent()).toBe("airports011");
    expect(new URL(page.url()).search).toBe("?changes=1");
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Zürich Airport" }).click();
    await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
  });

  it("works without a network after the first visit, and says so", async () => {
    const page = await openPage("/?airport=ZRH");
    await waitForAnswer(page, "en");
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
    const answers = `caches.open("answers").then((cache) => cache.keys()).then(({ length }) => length)`;
    await expect.poll(() => page.evaluate(answers)).toBe(1);
    await page.context().setOffline(true);
    await page.goto("/?country=CH");
    await page.getByRole("heading", { level: 1, name: "Switzerland" }).waitFor();
    await page.getByRole("combobox", { name: "Search" }).fill("münchen");
    await page.getByRole("option").first().getByText("Munich", { exact: true }).waitFor();
    // A call that is fresh in the browser's own cache needs no network either.
    await openCall(page);
    await page.getByRole("button", { name: "Call again" }).click();
    await page.getByText("There is no connection").waitFor();
    expect(await factOf(page, "Status")).toBe("200 okkept on this device");
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Call again" }).click();
    await page.locator(".call-fact", { hasText: "GET" }).waitFor();
    expect(await page.getByText("There is no connection").count()).toBe(0);
    expect(takeProblems().join()).toContain("ERR_INTERNET_DISCONNECTED");
  });

  it("offers the languages also without a network, and shows one that was chosen before", async () => {
    const page = await openPage("/?region=caribbean");
    await waitForAnswer(page, "en");
    const language = page.locator(".side-top select");
    await language.selectOption("de");
    await waitForAnswer(page, "de");
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Karibik" }).waitFor();
    await language.selectOption("en");
    await page.getByRole("heading", { level: 1, name: "Caribbean" }).waitFor();
    await page.context().setOffline(false);
    expect(takeProblems().join()).toContain("ERR_INTERNET_DISCONNECTED");
  });

  it("leaves every request but those for its own page and files to the browser", async () => {
    const page = await openPage("/");
    await waitForAnswer(page, "en");
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)");
    const kept = await page.evaluate<string[]>(`caches.keys()
      .then((names) => caches.open(names.find((name) => name.startsWith("explorer-"))))
      .then((cache) => cache.keys())
      .then((requests) => requests.map(({ url }) => new URL(url).pathname))`);
    expect(kept.filter((path) => !/^\/$|^\/(assets|search\/v1)\//.test(path))).toEqual([]);
    expect(kept).toContain("/");
    await page.goto("/docs");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().setOffline(true);
    await expect(page.goto("/dashboard")).rejects.toThrow("ERR_INTERNET_DISCONNECTED");
    takeProblems();
  });

  it("says that a link names something that the catalog does not have", async () => {
    const page = await openPage("/?airport=QQQ");
    await page.getByText("The catalog has no such place").waitFor();
    expect(await page.locator(".place").count()).toBe(0);
  });

  it("shows an unpublished tag in the closest locale, and says when that is the default", async () => {
    const page = await openPage("/?locale=de-AT");
    await waitForAnswer(page, "de");
    expect(await factOf(page, "Language")).toBe("de");
    await page.goto("/?locale=tlh");
    await waitForAnswer(page, "en");
    expect(await factOf(page, "Language")).toBe("enno closer one is published");
  });

  it.each(["not a tag", "C", "en-US@posix", "en_US.UTF-8"])(
    "shows the default language where the browser's is %s",
    async (language) => {
      const page = await newPage();
      await page.addInitScript(
        `Object.defineProperty(navigator, "language", { value: ${JSON.stringify(language)} })`,
      );
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).pathname));
      await page.goto("/?airport=ZRH");
      await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
      await waitForAnswer(page, "en");
      expect(requested.filter((path) => path.startsWith("/locations.v1."))).toHaveLength(1);
    },
  );

  it("explains that the service refuses a language, and recovers from it", async () => {
    const page = await openPage("/?airport=ZRH&locale=en-a");
    const alert = page.getByRole("alert");
    await alert.getByText("The service does not accept this language").waitFor();
    expect(await alert.textContent()).toContain("invalid_argument");
    expect(await seriousFaults(page)).toEqual([]);
    expect(takeProblems().join()).toContain("400");
    await page.locator(".side-top select").selectOption("de");
    await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
    await waitForAnswer(page, "de");
    expect(await alert.count()).toBe(0);
  });

  it("explains that the service does not answer, and recovers once it does", async () => {
    const page = await openPage("/?protocol=connect");
    await waitForAnswer(page, "en");
    await openCall(page);
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Call again" }).first().click();
    await page.getByRole("alert").getByText("No answer from the service").waitFor();
    expect(takeProblems().join()).toContain("ERR_INTERNET_DISCONNECTED");
    await page.context().setOffline(false);
    await page.getByRole("alert").getByRole("button", { name: "Call again" }).click();
    await waitForAnswer(page, "en");
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("shows how far the first run is, and calls again as soon as the service serves", async () => {
    const page = await newPage();
    let calls = 0;
    await page.route("**/GetLocationsV1*", (route) =>
      ++calls > 1
        ? route.continue()
        : route.fulfill({
            status: 503,
            headers: { "retry-after": "600" },
            json: { code: "unavailable", message: "nothing is published yet" },
          }),
    );
    const ingest = { running: { stage: "encode", progress: { done: 3, total: 64 } } };
    let answer = "Not yet";
    await page.route("**/catalog/health", (route) =>
      answer === "Yes" ? route.continue() : route.fulfill({ status: 503, json: {} }),
    );
    await page.route("**/dashboard/summary", (route) =>
      route.fulfill({ json: { answers: [{ question: "served", answer }], ingest } }),
    );
    await page.goto("/");
    const alert = page.getByRole("alert");
    await alert.getByRole("heading", { name: "The catalog is being prepared" }).waitFor();
    await alert.getByText("3 of 64 steps are done.").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect((await alert.boundingBox())?.y).toBeLessThan(150);
    expect(await alert.textContent()).toContain("nothing is published yet");
    answer = "Yes";
    await alert.waitFor({ state: "detached" });
    await waitForAnswer(page, "en");
    const languages = page.locator(".side-top select").locator("option");
    await expect.poll(() => languages.count()).toBeGreaterThan(1);
    expect(takeProblems().join()).toContain("503");
  });

  it("has no serious accessibility fault", async () => {
    const page = await openPage("/?country=CH&locale=ar");
    await waitForAnswer(page, "ar");
    await openCall(page);
    await page.getByText("Copy this call").click();
    expect(await faultsInAllColors(page)).toEqual([]);
    await page.getByRole("button", { name: "إغلاق" }).click();
    await page.locator("[role=combobox]").fill("par");
    await page.getByRole("option").first().waitFor();
    expect(await faultsInAllColors(page)).toEqual([]);
  });

  it("fits on a phone", async () => {
    const page = await openPage("/?region=caribbean&locale=ar", {
      viewport: { width: 360, height: 740 },
    });
    await waitForAnswer(page, "ar");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });

  it("shows the map and the heading of the selected place on a phone", async () => {
    const page = await openPage("/?country=DE", { viewport: { width: 360, height: 740 } });
    await waitForAnswer(page, "en");
    await page.locator(".place-list").last().getByRole("link").last().click();
    await page.locator(".eyebrow", { hasText: "airport" }).waitFor();
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
    const heading = await page.getByRole("heading", { level: 1 }).boundingBox();
    expect(heading?.y).toBeLessThan(740);
  });
});
