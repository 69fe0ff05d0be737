/** `npm run bench:map`: how many frames a second the explorer's map keeps while it is dragged. */
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findBrowser } from "../test/browser/find-browser.ts";
import { dragMap, frameGaps } from "../test/browser/measure-frames.ts";
import { median } from "./statistics.ts";

/** A map that stutters is under it on any machine; without a GPU, 60 is for an idle one only. */
const LEAST_FRAMES_A_SECOND = 15;

const { values } = parseArgs({
  options: { url: { type: "string", default: "http://127.0.0.1:8787" } },
});
const executablePath = findBrowser();
if (executablePath === undefined)
  throw new Error("no Chromium was found: install one, or name it in the variable CHROMIUM");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(values.url);
  await page.locator('.map-canvas:not([data-points="0"])').waitFor();
  await page.waitForLoadState("networkidle");
  const whole = await frameGaps(page, () => dragMap(page));
  await page.getByRole("button", { name: "Zoom in" }).click();
  const closer = await frameGaps(page, () => dragMap(page));
  report("the whole world", whole);
  report("closer", closer);
  if (Math.max(median(whole), median(closer)) > 1000 / LEAST_FRAMES_A_SECOND) process.exitCode = 1;
} finally {
  await browser.close();
}

function report(what: string, gaps: readonly number[]): void {
  const worst = Math.max(...gaps);
  const rate = (1000 / median(gaps)).toFixed(0);
  console.log(`${what}: ${rate} frames a second, worst gap ${worst.toFixed(0)} ms`);
}
