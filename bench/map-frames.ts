/** `npm run bench:map`: how many frames a second the explorer's map keeps while it is dragged. */
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright-core";
import { findBrowser } from "../test/browser/find-browser.ts";
import { median } from "./statistics.ts";

const DRAG_STEPS = 120;
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
  const whole = await measureDrag(page);
  await page.getByRole("button", { name: "Zoom in" }).click();
  const closer = await measureDrag(page);
  report("the whole world", whole);
  report("closer", closer);
  if (Math.max(median(whole), median(closer)) > 1000 / LEAST_FRAMES_A_SECOND) process.exitCode = 1;
} finally {
  await browser.close();
}

/** Drags the map to and fro; the milliseconds from each frame to the next. */
async function measureDrag(page: Page): Promise<number[]> {
  const box = await page.locator(".map-canvas").boundingBox();
  if (box === null) throw new Error("the map is not laid out");
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  await page.evaluate(`{
    const seen = (window.frames_seen = []);
    const tick = (time) => {
      seen.push(time);
      if (window.frames_seen === seen) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }`);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; step < DRAG_STEPS; step++) {
    const angle = (step / DRAG_STEPS) * 4 * Math.PI;
    await page.mouse.move(x + 200 * Math.sin(angle), y + 60 * Math.sin(angle / 2));
  }
  await page.mouse.up();
  const times = await page.evaluate<number[]>("window.frames_seen");
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

function report(what: string, gaps: readonly number[]): void {
  const worst = Math.max(...gaps);
  const rate = (1000 / median(gaps)).toFixed(0);
  console.log(`${what}: ${rate} frames a second, worst gap ${worst.toFixed(0)} ms`);
}
