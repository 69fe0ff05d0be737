import type { Page } from "playwright-core";

/** Waits until the call that the controls ask for has been answered in this locale. */
export async function waitForAnswer(page: Page, locale: string): Promise<void> {
  const facts = page.locator(".call-facts[aria-busy=false]");
  await facts
    .locator(".call-fact", { has: page.locator("dt", { hasText: "Language" }) })
    .locator("dd", { hasText: new RegExp(`^${locale}(no closer|$)`) })
    .waitFor({ state: "attached" });
}

/** Unfolds the call. */
export async function openCall(page: Page): Promise<void> {
  await page.locator(".call > summary").click();
}

/** What the explorer says of the last call, with the small print. */
export async function factOf(page: Page, name: string): Promise<string> {
  const fact = page.locator(".call-fact", { has: page.locator("dt", { hasText: name }) });
  return (await fact.locator("dd").textContent()) ?? "";
}

/**
 * A script's expression: the drawing context of a copy of the map. Chromium warns when a script reads
 * the page's own canvas twice, as a test does that waits for what the map shows.
 */
export const MAP_COPY = `(() => {
  const map = document.querySelector("canvas");
  const copy = new OffscreenCanvas(map.width, map.height).getContext("2d");
  copy.drawImage(map, 0, 0);
  return copy;
})()`;
