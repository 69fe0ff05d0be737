import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { newPage, openPage, seriousFaults, takeProblems, useBrowser } from "./browser.ts";
import { openCall, waitForAnswer } from "./explorer-page.ts";

useBrowser();

const PLACES = ["/", "/?airport=ZRH", "/?country=GB", "/?near=47.4,8.5"];
const WIDTHS = [390, 1024, 1600];
const PAGES = [...PLACES, "/dashboard", "/docs", "/docs/routes"];

/** Opens a page, and waits until it shows what it is about. */
async function openWhole(...[path, options]: Parameters<typeof openPage>): Promise<Page> {
  const page = await openPage(path, options);
  await settle(page);
  return page;
}

async function settle(page: Page): Promise<void> {
  if (await page.locator("#explorer").count())
    await page.locator(".call-fact small", { hasText: "GET" }).waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
  takeProblems(); // The dashboard is told that it is signed out.
}

/** Gives the page another width, and waits until it is drawn so. */
async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
  );
}

/** The color behind the text of an element. */
function backgroundOf(page: Page, selector: string): Promise<string> {
  const element = `document.querySelector(${JSON.stringify(selector)})`;
  return page.evaluate<string>(`getComputedStyle(${element}).backgroundColor`);
}

describe("in high contrast", () => {
  it.each([
    ["/", ".site-nav"],
    ["/docs", ".site-nav"],
    ["/docs/routes", ".docs-nav"],
    ["/dashboard", ".site-nav"],
  ])("%s shows which page it is in %s", async (path, nav) => {
    const page = await openWhole(path, { forcedColors: "active" });
    const current = await backgroundOf(page, `${nav} a[aria-current]`);
    expect(current).not.toBe(await backgroundOf(page, `${nav} a:not([aria-current])`));
    expect(current).not.toBe(await backgroundOf(page, "body"));
  });

  it("shows the chosen protocol, and the result that Enter takes", async () => {
    const page = await openWhole("/", { forcedColors: "active" });
    await openCall(page);
    const chosen = await backgroundOf(page, ".segment input:checked + span");
    expect(chosen).not.toBe(await backgroundOf(page, ".segment input:not(:checked) + span"));
    await page.getByRole("combobox", { name: "Search" }).fill("london");
    await page.getByRole("option").nth(1).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator('[role="option"][aria-selected="true"]').getByText("Heathrow").waitFor();
    const active = await backgroundOf(page, '[role="option"][aria-selected="true"]');
    expect(active).not.toBe(await backgroundOf(page, '[role="option"][aria-selected="false"]'));
    expect(await backgroundOf(page, ".map-legend span")).not.toBe(chosen);
  });
});

/** Texts that are written over each other, or beyond the page, as far as they can be seen. */
const BAD_TEXTS = `{
  const inSight = (element, box) => {
    for (let outer = element; outer !== null; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflow === "visible") continue;
      const { left, right, top, bottom } = outer.getBoundingClientRect();
      box.left = Math.max(box.left, left);
      box.right = Math.min(box.right, right);
      box.top = Math.max(box.top, top);
      box.bottom = Math.min(box.bottom, bottom);
    }
    return box.left < box.right && box.top < box.bottom ? [box] : [];
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || !element.checkVisibility()) continue;
    if (element.closest(".visually-hidden, noscript, option, .docs-contents, caption")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, right, top, bottom } of range.getClientRects()) {
      const line = (bottom - top) * 0.2; // which letters do not fill
      const box = { left: left + 1, right: right - 1, top: top + line, bottom: bottom - line };
      texts.push(...inSight(element, box).map((box) => ({ text: node.data.trim().slice(0, 30), ...box })));
    }
  }
  const width = document.documentElement.clientWidth;
  const isOver = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const pairs = texts.flatMap((a, at) => texts.slice(at + 1).map((b) => [a, b]));
  [
    ...pairs.filter(([a, b]) => isOver(a, b)).map(([a, b]) => a.text + " over " + b.text),
    ...texts.filter(({ left, right }) => left < -1 || right > width + 1).map(({ text }) => text + " beyond the page"),
  ];
}`;

describe("with text of twice the size", () => {
  // A page is loaded at one width, and gets the others.
  const turned = (at: number) => [...WIDTHS.slice(at), ...WIDTHS.slice(0, at)];
  it.each(PAGES.map((path, at) => [path, ...turned(at % WIDTHS.length)]))(
    "%s writes nothing over anything else, %i, %i and %i pixels wide",
    async (path, ...widths) => {
      const page = await newPage({ viewport: { width: widths[0] ?? 0, height: 800 } });
      const session = await page.context().newCDPSession(page);
      await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
      await page.goto(path);
      await settle(page);
      expect(await page.evaluate("getComputedStyle(document.body).fontSize")).toBe("26px");
      for (const width of widths) {
        await resize(page, width);
        expect(await page.evaluate(BAD_TEXTS), `${width} px`).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      }
    },
  );
});

/** What can be pressed, is no part of a text, and is lower or narrower than 24 pixels. */
const SMALL_TARGETS = `[...document.querySelectorAll("a, button, input, select, summary")]
  .filter((element) => element.checkVisibility() && !element.closest("p, pre, td, .visually-hidden, .docs-contents, .docs-body li"))
  .filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return height > 1 && Math.min(width, height) < 24;
  })
  .map(({ outerHTML }) => outerHTML)`;

it.each(
  [...PLACES, "/docs"].map((path, at) => [path, ...(at % 2 ? [1280, 390] : [390, 1280])] as const),
)(
  "%s has no target that is smaller than 24 pixels, %i or %i pixels wide",
  async (path, first, second) => {
    const page = await openWhole(path, { viewport: { width: first, height: 800 } });
    expect(await page.evaluate(SMALL_TARGETS)).toEqual([]);
    await resize(page, second);
    expect(await page.evaluate(SMALL_TARGETS)).toEqual([]);
  },
);

describe("who wants less motion", () => {
  const MOVES: [name: string, move: (page: Page) => Promise<void>][] = [
    ["a button", (page) => page.getByRole("button", { name: "Zoom in" }).click()],
    ["a key", (page) => page.getByRole("application").press("ArrowLeft")],
    ["a double click", (page) => page.locator(".map-canvas").dblclick()],
    ["a link", (page) => page.locator(".place-list a").first().click()],
  ];

  /** Counts the views that the map shows from each move on. */
  async function viewsOf(reducedMotion: "reduce" | "no-preference"): Promise<Map<string, number>> {
    const page = await newPage({ reducedMotion });
    await page.clock.install();
    await page.goto("/?country=CH");
    await settle(page);
    await page.locator(`.map-canvas:not([data-points="0"])[data-land="true"]`).waitFor();
    await page.clock.runFor(2_000);
    // The map may be drawn before the first move.
    await page.evaluate(`{
      window.views = new Set();
      const { setTransform } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.setTransform = function (...matrix) {
        const [, , , , x, y] = matrix;
        if (x !== 0) window.views.add(x + " " + y);
        setTransform.apply(this, matrix);
      };
    }`);
    const views = new Map<string, number>();
    for (const [name, move] of MOVES) {
      await page.evaluate("window.views = new Set()");
      await move(page);
      await page.clock.runFor(1_000);
      views.set(name, await page.evaluate<number>("window.views.size"));
    }
    return views;
  }

  it("sees the map jump by each move, and others see it move", async () => {
    // A double click is two clicks, too.
    for (const [name, views] of await viewsOf("reduce")) expect(views, name).toBeLessThanOrEqual(4);
    const seldom = async () =>
      [...(await viewsOf("no-preference"))].filter(([, views]) => views <= 4);
    await expect.poll(seldom).toEqual([]);
  });
});

describe.each([
  ["ar", "المملكة المتحدة"],
  ["ja", "イギリス"],
  ["de", "Vereinigtes Königreich"],
])("a reader of %s", (locale, name) => {
  it("finds countries under their names in that language, wherever they stand", async () => {
    const page = await openPage(`/?locale=${locale}`);
    await waitForAnswer(page, locale);
    const list = page.locator(".place-list").first();
    await list.getByText(name, { exact: true }).click();
    const heading = page.getByRole("heading", { level: 1 }).locator("bdi");
    await heading.getByText(name, { exact: true }).waitFor();
    expect(await heading.getAttribute("lang")).toBe(locale);
    expect(await page.title()).toContain(name);
    await page.getByRole("link", { name: "London Heathrow Airport" }).click();
    await page.locator(".trail").getByText(name).waitFor();
    await page.locator(".facts").getByText(name).waitFor();
    await page.locator(".map-canvas").hover();
    await page.locator(".map-tip small", { hasText: name }).waitFor();
  });
});

describe("the language of a page", () => {
  it.each([
    ["ar-EG", "ar", "rtl", "العالم في طلب واحد"],
    ["de-AT", "de", "ltr", "Die Welt in einem Aufruf"],
    ["zh-TW", "zh-Hant", "ltr", "一次呼叫，盡覽世界"],
    ["he-IL", "en", "ltr", "The world in one call"],
    ["en-GB", "en", "ltr", "The world in one call"],
  ])(
    "of %s is %s, written %s, and no other words are loaded",
    async (locale, language, direction, heading) => {
      const page = await newPage({ locale });
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).pathname));
      await page.goto("/");
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      await page.locator(`html[lang="${language}"][dir="${direction}"]`).waitFor();
      await page.waitForLoadState("networkidle");
      const words = requested.flatMap(
        (path) => /^\/assets\/([a-z]{2}(?:-hant)?)-\w+\.js$/.exec(path)?.[1] ?? [],
      );
      expect(words).toEqual(language === "en" ? [] : [language.toLowerCase()]);
      // What is for developers stays English.
      for (const part of [".site-header", ".call"])
        expect(await page.locator(part).getAttribute("lang")).toBe("en");
      expect(await seriousFaults(page)).toEqual([]);
      await page.goto("/dashboard");
      await page.getByRole("heading", { level: 1, name: "Dashboard" }).waitFor();
      await page.locator('html[lang="en"]:not([dir])').waitFor({ state: "attached" });
      takeProblems(); // The dashboard is told that it is signed out.
    },
  );
});

it("mirrors the page, but not the map, for those who read from right to left", async () => {
  const page = await openWhole("/?airport=ZRH&locale=ar");
  const side = await page.locator(".side").boundingBox();
  const map = await page.locator(".map").boundingBox();
  expect(side?.x).toBeGreaterThan(map?.x ?? Infinity);
  expect(await page.locator(".map-canvas").getAttribute("dir")).toBe("ltr");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(1280);
  expect(inject("service").locales).toContain("ar");
  await page.locator("[role=combobox]").fill("geneva");
  await page.getByRole("option").getByText("Geneva Cointrin").waitFor();
  const starts = await page.evaluate<number[]>(`[...document.querySelectorAll(".result-text > bdi")]
    .filter((name) => !name.closest(".result-under"))
    .flatMap((name) => {
      const range = document.createRange();
      range.selectNodeContents(name);
      return [...range.getClientRects()].map(({ right }) => Math.round(right));
    })`);
  expect(starts.length).toBeGreaterThan(1);
  expect(new Set(starts).size, "names in Latin letters start on the right as well").toBe(1);
});
