import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { newPage, openPage, useBrowser } from "./browser.ts";
import { MAP_COPY, waitForAnswer } from "./explorer-page.ts";

useBrowser();

/** Says what is drawn, to be compared. */
async function drawn(page: Page): Promise<string> {
  const image = await page.evaluate<string>("document.querySelector('canvas').toDataURL()");
  return createHash("sha256").update(image).digest("hex");
}

/** The middle of the map on the page. */
async function middleOfMap(page: Page): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.locator(".map-canvas").boundingBox();
  if (box === null) throw new Error("the map is not laid out");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function openMap(path: string): Promise<Page> {
  const page = await openPage(path);
  await waitForAnswer(page, "en");
  const { airports } = manifest.counts;
  await page.locator(`.map-canvas[data-points="${airports}"][data-land="true"]`).waitFor();
  await page.waitForLoadState("networkidle");
  return page;
}

/** Has the page list all texts that are written on the map. */
async function listTexts(page: Page): Promise<void> {
  await page.addInitScript(`{
    window.texts = [];
    const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillRect = function (...box) {
      window.texts = []; // of a new drawing
      fillRect.apply(this, box);
    };
    CanvasRenderingContext2D.prototype.fillText = function (...text) {
      window.texts.push(text[0]);
      fillText.apply(this, text);
    };
  }`);
}

describe("the map", () => {
  it.each([
    [390, ["United States", "United Kingdom", "Germany", "China"], ["Mali", "Niger", "Iceland"]],
    [1024, ["United States", "United Kingdom", "Germany", "China", "France"], ["Niger", "Chad"]],
    [1600, ["United States", "United Kingdom", "Germany", "Spain", "Japan"], ["Chad"]],
  ])("names countries of much traffic first at %i pixels", async (width, named, unnamed) => {
    const page = await newPage({ viewport: { width, height: 850 } });
    await listTexts(page);
    await page.goto("/");
    await page.locator('.map-canvas:not([data-points="0"])[data-land="true"]').waitFor();
    await page.waitForLoadState("networkidle");
    const texts = () => page.evaluate<string[]>("window.texts");
    await expect.poll(texts).toEqual(expect.arrayContaining(named));
    expect((await texts()).filter((text) => unnamed.includes(text))).toEqual([]);
    expect((await texts()).at(-1)).toMatch(/^\d,\d00 km$/);
  });

  it("lets the airports of Europe part on a phone", async () => {
    const page = await openPage("/", {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
    });
    await page.locator('.map-canvas:not([data-points="0"])[data-land="true"]').waitFor();
    await page.waitForLoadState("networkidle");
    // The canvas shows these places between the British Isles and the Black Sea.
    const share = `{
      const map = ${MAP_COPY};
      const { width, height } = map.canvas;
      const box = [width * 0.44, height * 0.4, width * 0.1, height * 0.07].map(Math.round);
      const { data } = map.getImageData(...box);
      const isDot = (at) => data[at] < 60 && data[at + 2] > 120;
      const pixels = Array.from({ length: data.length / 4 }, (_, pixel) => pixel * 4);
      pixels.filter(isDot).length / pixels.length;
    }`;
    const dots = await page.evaluate<number>(share);
    expect(dots).toBeGreaterThan(0.01);
    expect(dots).toBeLessThan(0.2);
  });

  it("has the colors that its legend names, also with a selection", async () => {
    const page = await openMap("/?country=CH");
    const colorsOf = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll(".map-legend span")]
      .map((span) => span.textContent + " " + getComputedStyle(span, "::before").backgroundColor)`);
    expect(colorsOf.map((color) => color.split(" rgb")[0])).toEqual([
      "selected",
      "large",
      "scheduled flights",
      "other, closer up",
    ]);
    const seen = await page.evaluate<string[]>(`{
      const map = ${MAP_COPY};
      const { data } = map.getImageData(0, 0, map.canvas.width, map.canvas.height);
      const colors = new Set();
      for (let at = 0; at < data.length; at += 4) colors.add(data.slice(at, at + 3).join(", "));
      [...colors];
    }`);
    for (const color of colorsOf) expect(seen, color).toContain(/rgb\((.*)\)/.exec(color)?.[1]);
  });

  it("shows all airports, and selects the one that is clicked", async () => {
    const page = await openMap("/?airport=ZRH");
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { level: 1, name: "The world" }).waitFor();
    const { x, y } = await middleOfMap(page);
    await page.mouse.move(x + 2, y + 2);
    await page.locator(".map-tip", { hasText: "ZRH" }).waitFor();
    await page.mouse.click(x + 2, y + 2);
    await page.getByRole("heading", { level: 1, name: "Zürich Airport" }).waitFor();
    expect(new URL(page.url()).search).toBe("?airport=ZRH");
  });

  it("has its legend below the map, where it covers no airport", async () => {
    const page = await openMap("/?city=naples-3172394");
    const canvas = await page.locator(".map-canvas").boundingBox();
    const legend = await page.locator(".map-legend").boundingBox();
    expect(legend?.y).toBeGreaterThanOrEqual((canvas?.y ?? 0) + (canvas?.height ?? Infinity));
  });

  it("zooms by buttons, by the wheel and by keys", async () => {
    const page = await openMap("/");
    const whole = await drawn(page);
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => drawn(page)).not.toBe(whole);
    await page.getByRole("button", { name: "Whole world" }).click();
    await expect.poll(() => drawn(page)).toBe(whole);
    const { x, y } = await middleOfMap(page);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -400);
    await expect.poll(() => drawn(page)).not.toBe(whole);
    await page.getByRole("application").focus();
    await page.keyboard.press("0");
    await page.mouse.move(0, 0);
    await expect.poll(() => drawn(page)).toBe(whole);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => drawn(page)).not.toBe(whole);
  });

  it("redraws while it is dragged, and does not mistake the drag for a click", async () => {
    const page = await openMap("/?airport=ZRH");
    await page.getByRole("button", { name: "Close" }).click();
    const { x, y } = await middleOfMap(page);
    const seen = new Set([await drawn(page)]);
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let step = 1; step <= 5; step++) {
      await page.mouse.move(x + step * 30, y + step * 10);
      await expect.poll(async () => seen.has(await drawn(page))).toBe(false);
      seen.add(await drawn(page));
    }
    await page.mouse.up();
    expect(seen.size).toBeGreaterThanOrEqual(6);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("The world");
  });

  it("lists the airports nearest to a click where none is, instead of what was selected", async () => {
    const page = await openMap("/?airport=ZRH");
    const { x, y } = await middleOfMap(page);
    await page.mouse.click(x + 40, y + 40);
    await page.getByRole("heading", { level: 1, name: "Nearest airports" }).waitFor();
    const link = new URL(page.url()).searchParams;
    expect(link.get("airport")).toBeNull();
    expect(link.get("near")).toMatch(/^4[67]\.\d+,[89]\.\d+$/);
    const nearest = page.locator(".place-list li").first();
    expect(await nearest.textContent()).toMatch(/^[A-Z]{3}.+\d km$/);
    await nearest.getByRole("link").click();
    await page.locator(".eyebrow", { hasText: "airport" }).waitFor();
    await page.getByRole("button", { name: "Airports nearby" }).click();
    await page.getByText("0 km", { exact: true }).waitFor();
  });

  it("has its view in the address, and shows it again", async () => {
    const viewOf = (page: Page) => new URL(page.url()).searchParams.get("view")?.split(",") ?? [];
    const page = await openMap("/?airport=ZRH");
    expect(new URL(page.url()).search).toBe("?airport=ZRH");
    await page.getByRole("button", { name: "Zoom out" }).click();
    await expect.poll(() => viewOf(page)).toHaveLength(3);
    const first = viewOf(page).map(Number);
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => Number(viewOf(page)[1])).toBeLessThan((first[1] ?? 0) - 0.5);
    const again = await openMap(new URL(page.url()).search);
    await again.getByRole("application").focus();
    await again.keyboard.press("ArrowRight");
    await expect.poll(() => Number(viewOf(again)[1])).toBeCloseTo(first[1] ?? 0, 1);
    expect(Number(viewOf(again)[0])).toBeCloseTo(first[0] ?? 0, 1);
    expect(Number(viewOf(again)[2])).toBeCloseTo(first[2] ?? 0, 1);
    await again.getByRole("button", { name: "Whole world" }).click();
    await expect.poll(() => new URL(again.url()).search).toBe("?airport=ZRH");
  });

  it("loads lakes where one looks closely, and draws them", async () => {
    const page = await openMap("/");
    const loaded = `performance.getEntriesByType("resource").some(({ name }) => name.includes("world-water"))`;
    expect(await page.evaluate(loaded)).toBe(false);
    const lake = await openMap("/?view=43.5,-87,7");
    const inTheMiddle = `{
      const map = ${MAP_COPY};
      const [x, y] = [map.canvas.width / 2, map.canvas.height / 2];
      [...map.getImageData(x, y, 1, 1).data].slice(0, 3).join();
    }`;
    await expect.poll(() => lake.evaluate(inTheMiddle)).toBe("220,230,236");
  });

  it("arrives where it flies to, although its size changes on the way", async () => {
    const page = await openPage("/", { reducedMotion: "no-preference" });
    await waitForAnswer(page, "en");
    await page.getByRole("combobox", { name: "Search" }).fill("zrh");
    await page.getByRole("option").first().getByText("Zürich Airport").click();
    await page.setViewportSize({ width: 1240, height: 760 });
    const isThere = async () => {
      const { x, y } = await middleOfMap(page);
      await page.mouse.move(x - 60, y - 60);
      await page.mouse.move(x + 1, y + 1);
      return (await page.locator(".map-tip", { hasText: "ZRH" }).count()) === 1;
    };
    await expect.poll(isThere, { interval: 500 }).toBe(true);
  });

  it.each(["country=CH", "region=new-york-us", "region=zurich-ch"])("shades %s", async (place) => {
    const page = await openMap(`/?${place}`);
    const isShaded = `{
      const map = ${MAP_COPY};
      const { data } = map.getImageData(0, 0, map.canvas.width, map.canvas.height);
      const isAt = (at) => [251, 220, 198].every((value, channel) => data[at + channel] === value);
      Array.from({ length: data.length / 4 }, (_, pixel) => pixel * 4).filter(isAt).length > 1_000;
    }`;
    await expect.poll(() => page.evaluate(isShaded)).toBe(true);
  });

  it("shows where a region is, and whether it is another one than before", async () => {
    const page = await openMap("/?region=caribbean");
    const caribbean = await drawn(page);
    await page.getByRole("combobox", { name: "Search" }).fill("micronesia");
    await page.getByRole("option", { name: "region Micronesia" }).click();
    await page.getByRole("heading", { level: 1, name: "Micronesia" }).waitFor();
    await expect.poll(() => drawn(page)).not.toBe(caribbean);
  });
});
