import { gzipSync } from "node:zlib";
import { describe, expect, inject, it } from "vitest";
import {
  faultsInAllColors,
  newPage,
  openPage,
  seriousFaults,
  takeProblems,
  useBrowser,
} from "./browser.ts";
import { waitForAnswer } from "./explorer-page.ts";

useBrowser();

const PAGES = ["/", "/dashboard", "/docs"];
const FIRST_LOAD_MAX_BYTES = 300_000;

describe.each(PAGES)("%s", (path) => {
  it("sends a policy that lets only the service's own files run and nobody embed the page", async () => {
    const { headers } = await fetch(`${inject("service").url}${path}`);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[^ ;]+'; style-src 'self' 'sha256-[^ ;]+'; img-src/,
    );
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    // Only of this host: others of its domain belong to somebody else.
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
  });

  it("runs no script that was injected into its HTML", async () => {
    const page = await newPage();
    const attack = `
      <script>window.injected = "a script"</script>
      <img id="attack" src="/nothing" onerror="window.injected = 'a handler'">`;
    await page.route(path, async (route) => {
      const response = await route.fetch();
      const html = (await response.text()).replace("</body>", `${attack}</body>`);
      await route.fulfill({ response, body: html });
    });
    await page.goto(path);
    const hasFailed = "document.getElementById('attack').complete";
    await expect.poll(() => page.evaluate(hasFailed)).toBe(true);
    expect(await page.evaluate("window.injected")).toBeUndefined();
    const problems = takeProblems().join("\n");
    expect(problems).toMatch(/inline script.*Content Security Policy/);
    expect(problems).toMatch(/inline event handler.*Content Security Policy/);
  });

  it("takes no text for HTML or a script", async () => {
    const page = await openPage(path);
    for (const [wanted, attack] of [
      ["TrustedHTML", "document.body.insertAdjacentHTML('beforeend', '<p>injected</p>')"],
      ["TrustedScript", "document.createElement('script').textContent = 'window.injected = true'"],
    ]) {
      const refusal = await page.evaluate(`try { ${attack}; "" } catch (error) { String(error) }`);
      expect(refusal).toContain(wanted);
    }
    takeProblems();
  });

  it("sends requests to nobody but the service", async () => {
    const page = await newPage();
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).origin));
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    expect([...new Set(requested)]).toEqual([inject("service").url]);
    takeProblems(); // The dashboard is told that it is signed out.
  });
});

it("the explorer loads less than 300 KB compressed, not counting the catalog", async () => {
  const page = await openPage("/docs");
  const sizes = new Map<string, number>();
  const reading: Promise<void>[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/locations.v1.")) return;
    // A file that is preloaded is answered twice, the second time without a body to read.
    const read = async () => {
      const body = await response.body().catch(() => Buffer.of());
      sizes.set(pathname, Math.max(sizes.get(pathname) ?? 0, gzipSync(body).length));
    };
    reading.push(read());
  });
  await page.goto("/");
  await waitForAnswer(page, "en");
  await page.waitForLoadState("networkidle");
  await Promise.all(reading);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(sizes.size).toBeGreaterThan(4);
  expect(total).toBeGreaterThan(50_000);
  expect(total, JSON.stringify([...sizes])).toBeLessThan(FIRST_LOAD_MAX_BYTES);
});

it("the explorer draws its introduction from its HTML alone", async () => {
  const page = await newPage();
  await page.route("**", (route) =>
    route.request().isNavigationRequest() ? route.continue() : route.abort(),
  );
  await page.goto("/");
  await page.getByRole("heading", { name: "The world in one call" }).waitFor();
  const layout = "getComputedStyle(document.querySelector('.explorer')).display";
  expect(await page.evaluate(layout)).toBe("grid");
  takeProblems(); // Nothing else is loaded.
});

describe("the documentation", () => {
  it("shows the contract with its comments", async () => {
    const page = await openPage("/docs/clients");
    await page.getByText("Every airport").first().waitFor({ state: "attached" });
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("// GetLocationsV1 returns the full lists");
  });

  it("has the credits as a page for browsers, and as Markdown for programs", async () => {
    const page = await openPage("/credits", { viewport: { width: 390, height: 844 } });
    await page.getByRole("heading", { level: 1, name: "Credits" }).waitFor();
    await page.getByRole("row", { name: "GeoNames CC BY 4.0" }).first().waitFor();
    await page.getByText("Natural Earth").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await faultsInAllColors(page)).toEqual([]);
    const { url } = inject("service");
    const answer = await fetch(`${url}/credits`);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  });

  it("leads operators to the runbook, with the host of this service, and to the routes", async () => {
    const page = await openPage("/docs");
    const nav = page.getByRole("navigation", { name: "Documentation" });
    await nav.getByRole("link", { name: "Operating" }).click();
    await page.getByRole("heading", { name: "When something is wrong" }).waitFor();
    await page.locator("pre", { hasText: `URL=${inject("service").url}` }).waitFor();
    await nav.getByRole("link", { name: "HTTP routes" }).click();
    await page.locator("summary", { hasText: "POST /admin/ingest/queue" }).click();
    await page.getByRole("link", { name: "QueueAnswer" }).first().click();
    await page.getByText("queue_depth").first().waitFor();
    expect(new URL(page.url()).hash).toBe("#schema-queueanswer");
  });

  it("opens an operation from a link, and breaks none of its codes on a phone", async () => {
    const viewport = { width: 360, height: 740 };
    const page = await openPage("/docs/routes#cancelRun", { viewport });
    const operation = page.locator("details[open]");
    await operation.getByRole("heading", { name: "Cancel an ingestion run" }).waitFor();
    const code = await operation.getByText("200", { exact: true }).first().boundingBox();
    expect(code?.height).toBeLessThan(30);
    await page.goto("/docs/routes#schema-queueanswer");
    await page.locator("details[open]", { hasText: "queue_depth" }).waitFor();
  });

  it("finds the chapter with all typed words, first that with the words in its title", async () => {
    const page = await openPage("/docs");
    const search = page.getByRole("searchbox", { name: "Search the documents" });
    await search.fill("guards refused");
    const found = page.getByRole("search").getByRole("link");
    await found.first().waitFor();
    expect(await found.first().textContent()).toBe("Operating: Guards refused a run");
    expect(await seriousFaults(page)).toEqual([]);
    await found.first().click();
    await page.getByRole("heading", { name: "Guards refused a run" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#guards-refused-a-run");
    await search.fill("wxzqvj");
    await page.getByText("Chapters found: 0").waitFor();
  });

  it("starts with a call by curl, and leads from page to page", async () => {
    const page = await openPage("/docs");
    expect(await page.locator("h2").first().textContent()).toBe("One call");
    expect(await page.locator("pre").first().textContent()).toMatch(/^curl .*\n.*GetLocationsV1/);
    await page.getByRole("link", { name: "Clients →" }).click();
    await page.getByRole("heading", { level: 1, name: "Clients" }).waitFor();
    await page.getByRole("link", { name: "← Welcome" }).click();
    await page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor();
  });

  it("copies calls but no answers, and has its own address in each of them", async () => {
    const page = await openPage("/docs");
    await page.getByRole("button", { name: "Copy" }).waitFor();
    expect(await page.locator("pre").count()).toBe(2);
    expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(1);
    for (const path of ["/docs/clients", "/docs/package", "/docs/operating"]) {
      await page.goto(path);
      await page.getByRole("button", { name: "Copy" }).first().waitFor();
      const code = (await page.locator("code").allTextContents()).join("\n");
      expect(code).toContain(inject("service").url);
      expect(code).not.toMatch(/127\.0\.0\.1:8787|\/\/locations\.example\.com/);
    }
  });

  it("draws pictures in the colours of the text, light and dark", async () => {
    const page = await openPage("/docs/alerts");
    await page.getByRole("img", { name: "The states of an alert" }).waitFor();
    const seen = new Set<string>();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const [drawn = "", text] = await page.evaluate<string[]>(
        "['.drawing text', 'body'].map((one) => getComputedStyle(document.querySelector(one))[one === 'body' ? 'color' : 'fill'])",
      );
      expect(drawn).toBe(text);
      seen.add(drawn);
    }
    expect(seen.size).toBe(2);
  });

  it("has its text before its navigation on a phone", async () => {
    const page = await openPage("/docs", { viewport: { width: 360, height: 740 } });
    const heading = await page.getByRole("heading", { level: 1 }).boundingBox();
    expect(heading?.y).toBeLessThan(150);
    await page.getByRole("link", { name: "Contents", exact: true }).click();
    const top = "document.querySelector('.docs-nav').getBoundingClientRect().top";
    await expect.poll(() => page.evaluate(top)).toBeLessThan(370);
  });

  it.each(["/docs", "/docs/clients", "/docs/operating", "/docs/routes"])(
    "%s fits on a phone, and has no serious accessibility fault in light or dark colours",
    async (path) => {
      const page = await openPage(path, { viewport: { width: 360, height: 740 } });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(await faultsInAllColors(page)).toEqual([]);
    },
  );
});

describe("the pages and the Worker", () => {
  it("share one origin without conflicts", async () => {
    const { url } = inject("service");
    const status = async (path: string, init?: RequestInit) =>
      (await fetch(`${url}${path}`, { redirect: "manual", ...init })).status;
    expect(await status("/admin/ingest/runs")).toBe(401);
    expect(await status("/catalog/health")).toBe(200);
    expect(await status("/credits")).toBe(200);
    expect(await status("/dashboard/summary")).toBe(200);
    expect(await status("/nothing")).toBe(404);
    expect(await status("/", { method: "POST" })).toBe(405);
    expect(await status("/dashboard/")).toBe(307);
    expect(await status("/locations.v1.LocationsService/GetLocationsV1")).toBe(415);
  });

  it("answer a person at an unknown address with a page, and a program with a problem", async () => {
    const page = await newPage();
    const opened = await page.goto("/nothing");
    expect(opened?.status()).toBe(404);
    await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "documentation" }).click();
    await page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor();
    expect(takeProblems().join()).toContain("404");
    const { url } = inject("service");
    const requested = await fetch(`${url}/nothing`);
    expect(requested.status).toBe(404);
    expect(await requested.json()).toMatchObject({ code: "not_found" });
    const accept = { accept: "text/html" };
    expect((await fetch(`${url}/nothing`, { method: "HEAD", headers: accept })).status).toBe(404);
    // Other answers with this status say more than a page would.
    const diff = await fetch(`${url}/catalog/diff?from=999`, { headers: accept });
    expect(await diff.json()).toMatchObject({ code: "generation_not_retained" });
  });

  it("let browsers cache the files whose names are hashes of their content", async () => {
    const { url } = inject("service");
    const html = await (await fetch(url)).text();
    const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    const { headers } = await fetch(`${url}${script}`);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });
});
