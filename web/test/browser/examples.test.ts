import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { LOCALE, usePublishingService } from "../../../test/builders/publishing-service.ts";
import { newPage, openPage, takeProblems, useBrowser } from "./browser.ts";
import { useExamplePages } from "./example-pages.ts";

useBrowser();
const service = usePublishingService();

const RENAMED = ["Quarzwald Field · Honiara, Salomonen · HIR"];
const origin = useExamplePages();

/** Kinds of calls of the service, each once: `HEAD 200`, `diff 200` or `names 200`. */
function callsOf(page: Page): Set<string> {
  const calls = new Set<string>();
  page.on("response", (response) => {
    const { pathname, origin: from } = new URL(response.url());
    if (from !== service.proxy.url) return;
    if (pathname.startsWith("/search/")) return;
    const [, change] = /^\/catalog\/(.+)/.exec(pathname) ?? [];
    const name = change ?? response.request().method();
    calls.add(`${name} ${response.status()}`);
  });
  return calls;
}

async function expectShown(page: Page, status: RegExp): Promise<void> {
  await page.locator("output").filter({ hasText: status }).waitFor();
}

async function expectFound(page: Page, text: string, places: readonly string[]): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await expect.poll(() => page.getByRole("listitem").allTextContents()).toEqual(places);
}

/** SHA-256 of the catalog that is stored, behind two lines. */
function storedSha256(page: Page): Promise<string> {
  const key = `${service.proxy.url} catalog ${LOCALE}`;
  return page.evaluate<string>(`(async () => {
    const settled = (request) =>
      new Promise((resolve) => request.addEventListener("success", () => resolve(request.result)));
    const database = await settled(indexedDB.open("locations-at-the-edge", 2));
    const objects = database.transaction("copies").objectStore("copies");
    const record = await settled(objects.get(${JSON.stringify(key)}));
    database.close();
    const bytes = record.slice(record.indexOf(10, record.indexOf(10) + 1) + 1);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  })()`);
}

it("examples/browser keeps the catalog, fetches what changed and finds places offline", async () => {
  const page = await newPage();
  const calls = callsOf(page);
  const takeCalls = () => {
    const taken = [...calls];
    calls.clear();
    return taken;
  };

  await page.goto(`${origin()}/?service=${service.proxy.url}&locale=${LOCALE}`);
  await expectShown(page, /^version 1, current$/);
  const whole = service.proxy.takeBytes();
  expect(takeCalls()).toEqual(["GET 200", "HEAD 200"]);
  expect(await storedSha256(page)).toBe((await service.served()).sha256);
  await expectFound(page, "mucugê", [
    "Mucugê · Bahia, Brasilien · CHD",
    "Mucugê Airport · Mucugê, Brasilien · CHD",
  ]);
  await expectFound(page, "quarzwald", []);

  await page.reload();
  await expectShown(page, /^version 1, current$/);
  expect(takeCalls()).toEqual(["HEAD 200"]);
  const unchanged = service.proxy.takeBytes();
  expect(unchanged).toBeLessThan(whole / 10);

  await page.goto(`${origin()}/?service=${service.proxy.url}&locale=en`);
  await expectShown(page, /^version 1, current$/);
  expect(takeCalls()).toEqual(["HEAD 200", "names 200"]);
  expect(service.proxy.takeBytes()).toBeLessThan(whole / 5);
  await expectFound(page, "mucugê", [
    "Mucugê · Bahia, Brazil · CHD",
    "Mucugê Airport · Mucugê, Brazil · CHD",
  ]);
  await page.goBack();

  await service.publish((airports) =>
    airports
      .replace("Honiara International Airport", "Quarzwald Field")
      .replace("Munda Airport", "Munda International Airport"),
  );
  service.proxy.takeBytes();
  await page.reload();
  await expectShown(page, /^version 2, current$/);
  expect(takeCalls()).toEqual(["HEAD 200", "diff 200"]);
  const changes = service.proxy.takeBytes();
  expect(changes).toBeLessThan(whole / 10);
  expect(await storedSha256(page)).toBe((await service.served()).sha256);
  await expectFound(page, "quarzwald", RENAMED);

  await service.proxy.stop();
  await page.reload();
  await expectShown(page, /^version 2, .* cannot be reached \(Failed to fetch\)/);
  expect(takeProblems().join()).toContain("ERR_CONNECTION_REFUSED");
  await expectFound(page, "quarzwald", RENAMED);
});

it("examples/browser shows that its address is wrong", async () => {
  const page = await openPage(`${origin()}/?service=${inject("service").url}/nowhere`);
  await expectShown(page, /^CatalogError: .*HTTP 404.* check that baseUrl is the address/);
});

it("examples/browser shows the default language where the browser has none", async () => {
  const page = await openPage(`${origin()}/?service=${inject("service").url}&locale=en-US@posix`);
  await expectShown(page, /^version \d+, current$/);
});
