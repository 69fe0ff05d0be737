/**
 * `npm run bench:explorer`: what it takes to show the explorer's map, and how many frames a second
 * it keeps while it is dragged. A deployed service sends smaller answers than one that
 * `npm start` has started without `--var COMPRESSION=best`.
 */
import { parseArgs } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { findBrowser } from "../test/find-program.ts";
import { dragMap, frameGaps } from "../test/browser/measure-frames.ts";
import { median } from "./statistics.ts";

/** A map that stutters is under it on any machine; without a GPU, 60 is for an idle one only. */
const LEAST_FRAMES_A_SECOND = 15;
/** As Chromium's developer tools define slow 3G; bytes a second. */
const SLOW_3G = {
  offline: false,
  latency: 400,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
};
/** 1.6 Mbit/s, as Lighthouse defines slow 4G. */
const SLOW_4G = {
  offline: false,
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 94_000,
};
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const SLOW_MS = 120_000;

/** Records a `Load` in the page. */
const WATCH_LOAD = `{
  const seen = (window.load_seen = { headingMs: 0, countsMs: 0, listsMs: 0, largestPaintMs: 0, shift: 0 });
  const observe = (type, see) =>
    new PerformanceObserver((list) => list.getEntries().forEach(see)).observe({ type, buffered: true });
  observe("layout-shift", ({ value }) => (seen.shift += value));
  observe("largest-contentful-paint", ({ startTime }) => (seen.largestPaintMs = startTime));
  const look = (time) => {
    if (document.querySelector("h1")) seen.headingMs ||= time;
    if (/[1-9]/.test(document.querySelector(".counts")?.textContent)) seen.countsMs ||= time;
    if (document.querySelector(".place-list")) seen.listsMs ||= time;
    if (seen.listsMs === 0) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}`;

const { values } = parseArgs({
  options: { url: { type: "string", default: "http://127.0.0.1:8787" } },
});
const executablePath = findBrowser();
if (executablePath === undefined)
  throw new Error("no Chromium was found: install one, or name it in the variable CHROMIUM");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  console.log(`desktop: ${await measureLoad(browser, { viewport: DESKTOP, slowdown: 1 })}`);
  console.log(
    `a phone, 4 times slower: ${await measureLoad(browser, { viewport: PHONE, slowdown: 4 })}`,
  );
  const phone = { viewport: PHONE, slowdown: 4, network: SLOW_4G };
  console.log(`a phone, 4 times slower, at 1.6 Mbit/s: ${await measureLoad(browser, phone)}`);
  const slow = { viewport: PHONE, slowdown: 1, network: SLOW_3G };
  console.log(`slow 3G: ${await measureLoad(browser, slow)}`);
  await measureFrames(browser);
} finally {
  await browser.close();
}

interface Conditions {
  readonly viewport: { readonly width: number; readonly height: number };
  /** How many times slower the CPU is. */
  readonly slowdown: number;
  readonly network?: typeof SLOW_3G;
}

/** Loads the explorer into an empty cache until the map has its points. */
async function measureLoad(
  chrome: Browser,
  { viewport, slowdown, network }: Conditions,
): Promise<string> {
  const context = await chrome.newContext({ viewport });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await session.send("Network.enable");
  if (network !== undefined) await session.send("Network.emulateNetworkConditions", network);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript(WATCH_LOAD);
  await chrome.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  await page.goto(values.url, { timeout: SLOW_MS });
  await waitForPoints(page);
  const seconds = (await page.evaluate<number>("performance.now()")) / 1000;
  await page.waitForLoadState("networkidle", { timeout: SLOW_MS });
  const seen = await page.evaluate<Load>("window.load_seen");
  const trace = JSON.parse((await chrome.stopTracing()).toString()) as Trace; // Chromium's format
  await context.close();
  const kilobytes = (bytes / 1000).toFixed(0);
  const parts = [
    `heading after ${(seen.headingMs / 1000).toFixed(1)} s`,
    `counts after ${(seen.countsMs / 1000).toFixed(1)} s`,
    `lists after ${(seen.listsMs / 1000).toFixed(1)} s`,
    `points after ${seconds.toFixed(1)} s`,
    `largest paint after ${(seen.largestPaintMs / 1000).toFixed(1)} s`,
    `shift ${seen.shift.toFixed(3)}`,
    `${kilobytes} kB`,
    `longest task ${longestTaskMs(trace).toFixed(0)} ms of CPU`,
  ];
  return parts.join(", ");
}

interface Load {
  readonly headingMs: number;
  readonly countsMs: number;
  /** When all that the catalog has is on the page. */
  readonly listsMs: number;
  readonly largestPaintMs: number;
  /** Cumulative layout shift. */
  readonly shift: number;
}

interface Trace {
  readonly traceEvents: readonly {
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    /** CPU time, in microseconds. */
    readonly tdur?: number;
    readonly args?: { readonly name?: string };
  }[];
}

/** The longest task of the main thread, in CPU time, which other work on the machine does not count into. */
function longestTaskMs({ traceEvents }: Trace): number {
  const mains = traceEvents.filter(
    ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
  );
  const ofMain = traceEvents.filter(({ name, pid, tid }) =>
    mains.some((main) => name.endsWith("RunTask") && main.pid === pid && main.tid === tid),
  );
  return Math.max(...ofMain.map(({ tdur = 0 }) => tdur)) / 1000;
}

async function measureFrames(chrome: Browser): Promise<void> {
  const page = await chrome.newPage({ viewport: DESKTOP });
  await page.goto(values.url);
  await waitForPoints(page);
  await page.waitForLoadState("networkidle");
  const whole = await frameGaps(page, () => dragMap(page));
  await page.getByRole("button", { name: "Zoom in" }).click();
  const closer = await frameGaps(page, () => dragMap(page));
  report("dragging the whole world", whole);
  report("dragging, closer", closer);
  if (Math.max(median(whole), median(closer)) > 1000 / LEAST_FRAMES_A_SECOND) process.exitCode = 1;
}

async function waitForPoints(page: Page): Promise<void> {
  await page.locator('.map-canvas:not([data-points="0"])').waitFor({ timeout: SLOW_MS });
}

function report(what: string, gaps: readonly number[]): void {
  const worst = Math.max(...gaps);
  const rate = (1000 / median(gaps)).toFixed(0);
  console.log(`${what}: ${rate} frames a second, worst gap ${worst.toFixed(0)} ms`);
}
