import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import type { RunningService } from "../../../test/system/running-service.ts";
import { findBrowser } from "../../../test/find-program.ts";

/** Ends what hangs, and nothing else: a busy machine takes minutes to compress a new catalog. */
const WAIT_MS = 240_000;

let browser: Browser | undefined;
let problems: string[] = [];
const opened = new Set<Page>();

/** Has a browser for all tests of the file. Each test fails if its pages complained about anything. */
export function useBrowser(): void {
  beforeAll(async () => {
    // Chromium's own sandbox wants rights that containers and root do not have.
    browser = await chromium.launch({
      executablePath: findBrowser() ?? "chromium",
      args: ["--no-sandbox"],
    });
  });
  afterEach(async () => {
    const seen = problems;
    problems = [];
    for (const page of opened) {
      // A request that a test answers may come while its page closes.
      if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().close();
    }
    opened.clear();
    expect(seen).toEqual([]);
  });
  afterAll(() => browser?.close());
}

/** Opens a page of the running service in a browser of its own, without cookies or cache. */
export async function openPage(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(options);
  await page.goto(path);
  return page;
}

/** Makes an empty page, to be prepared before it opens one of the running service. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  if (browser === undefined) throw new Error("useBrowser() comes first");
  const { url }: RunningService = inject("service");
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  opened.add(page);
  watch(page);
  return page;
}

/** What a test says it provokes is no problem of the page. Returns what was seen so far. */
export function takeProblems(): string[] {
  const seen = problems;
  problems = [];
  return seen;
}

function watch(page: Page): void {
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("requestfailed", (request) => {
    // A call that another has superseded is given up.
    const reason = request.failure()?.errorText ?? "";
    if (reason !== "net::ERR_ABORTED") problems.push(`${request.url()}: ${reason}`);
  });
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** Faults of accessibility that axe-core calls serious or critical, as rules with what breaks them. */
export async function seriousFaults(page: Page): Promise<string[]> {
  return faultsOf(page, { rules: { "target-size": { enabled: true } } });
}

/** Serious faults in light colors, and those of colors also in dark ones. */
export async function faultsInAllColors(page: Page): Promise<string[]> {
  const faults = await seriousFaults(page);
  await page.emulateMedia({ colorScheme: "dark" });
  faults.push(...(await faultsOf(page, { runOnly: ["color-contrast", "link-in-text-block"] })));
  await page.emulateMedia({ colorScheme: "light" });
  return faults;
}

async function faultsOf(page: Page, options: object): Promise<string[]> {
  // Evaluated by the debugger, which the page's Content-Security-Policy does not bind.
  await page.evaluate(axeSource);
  const given = JSON.stringify({ resultTypes: ["violations"], ...options });
  const result = await page.evaluate<AxeResult>(`axe.run(document, ${given})`);
  return result.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
