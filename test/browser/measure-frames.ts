import type { Page } from "playwright-core";

/** How often the pointer moves in a drag. */
const DRAG_STEPS = 120;

/** A point on the page, in its pixels. */
export interface PagePoint {
  readonly x: number;
  readonly y: number;
}

/** The middle of the map on the page. */
export async function middleOfMap(page: Page): Promise<PagePoint> {
  const box = await page.locator(".map-canvas").boundingBox();
  if (box === null) throw new Error("the map is not laid out");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Drags the map to and fro. */
export async function dragMap(page: Page): Promise<void> {
  const { x, y } = await middleOfMap(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; step < DRAG_STEPS; step++) {
    const angle = (step / DRAG_STEPS) * 4 * Math.PI;
    await page.mouse.move(x + 200 * Math.sin(angle), y + 60 * Math.sin(angle / 2));
  }
  await page.mouse.up();
}

/** The milliseconds from each frame to the next while something is done to the page. */
export async function frameGaps(page: Page, during: () => Promise<void>): Promise<number[]> {
  await page.evaluate(`{
    const seen = (window.frames_seen = []);
    const tick = (time) => {
      seen.push(time);
      if (window.frames_seen === seen) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }`);
  await during();
  const times = await page.evaluate<number[]>("window.frames_seen");
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}
