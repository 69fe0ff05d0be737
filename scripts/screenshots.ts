/**
 * `node scripts/screenshots.ts`: renews the pictures of the pages in README and docs, from a service
 * that `npm start` has started.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright-core";
import { findBrowser } from "../test/find-program.ts";
import { localAdminToken } from "./local-admin-token.ts";

const FOLDER = "src/web/screenshots";
const SIZES = {
  explorer: { width: 1280, height: 800 },
  dashboard: { width: 1280, height: 1000 },
} as const;
/** Until what has arrived is drawn. */
const DRAWN_MS = 1_000;

const { values } = parseArgs({
  options: { url: { type: "string", default: "http://127.0.0.1:8787" } },
});
const executablePath = findBrowser();
if (executablePath === undefined)
  throw new Error("no Chromium was found: install one, or name it in the variable CHROMIUM");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({
    baseURL: values.url,
    viewport: SIZES.explorer,
    reducedMotion: "reduce",
  });
  const token = JSON.stringify(localAdminToken().text);
  await context.addInitScript(`sessionStorage.setItem("locations.admin-token", ${token})`);
  const page = await context.newPage();
  const mapFiles = ["world-50m", "world-water"].map((name) =>
    page.waitForEvent("requestfinished", (request) => request.url().includes(name)),
  );
  await page.goto("/?locale=de&country=DE");
  await page.locator(".call-facts[aria-busy=false]").waitFor();
  await Promise.all(mapFiles);
  await save(page, "explorer");
  await page.setViewportSize(SIZES.dashboard);
  await page.goto("/dashboard");
  await page.locator(".table tbody tr").first().waitFor();
  await save(page, "dashboard");
} finally {
  await browser.close();
}

/** Saves what the page shows as WebP, which only the browser's own protocol offers. */
async function save(page: Page, name: keyof typeof SIZES): Promise<void> {
  await page.waitForTimeout(DRAWN_MS);
  const session = await page.context().newCDPSession(page);
  const picture = { format: "webp", quality: 90 } as const;
  const { data } = await session.send("Page.captureScreenshot", picture);
  writeFileSync(`${FOLDER}/${name}.webp`, Buffer.from(data, "base64"));
}
