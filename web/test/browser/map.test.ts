import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { openPage, useBrowser } from "./browser.ts";
import { waitForAnswer } from "./explorer-page.ts";

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

describe("the map", () => {
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
      const canvas = document.querySelector("canvas");
      const [x, y] = [canvas.width / 2, canvas.height / 2];
      [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3).join();
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

  it("shows where a region is, and whether it is another one than before", async () => {
    const page = await openMap("/?region=caribbean");
    const caribbean = await drawn(page);
    await page.getByRole("combobox", { name: "Search" }).fill("micronesia");
    await page.getByRole("option", { name: "region Micronesia" }).click();
    await page.getByRole("heading", { level: 1, name: "Micronesia" }).waitFor();
    await expect.poll(() => drawn(page)).not.toBe(caribbean);
  });
});
