import { expect, it } from "vitest";
import { LOCALE, usePublishingService } from "../../../test/builders/publishing-service.ts";
import { openPage, useBrowser, useSite } from "./browser.ts";
import { callUrl, contentOf, DictionaryBrowser, FORMS, renamed } from "./dictionary-browser.ts";
import { factOf, waitForAnswer } from "./explorer-page.ts";

useBrowser();
const service = usePublishingService();
const site = useSite();

/** The headers of each answer are almost 900 bytes. */
const WHOLE_BYTES = 100_000;
const DELTA_BYTES = 2_048;
/** The regions of this small world in one language. */
const OTHER_LOCALE_BYTES = 60_000;
const UNCHANGED_BYTES = 1_024;

/** Asks in both forms, checks the content and returns the bytes on the wire. */
async function receive(browser: DictionaryBrowser, version: number, locale = LOCALE) {
  const all: number[] = [];
  for (const form of FORMS) {
    const url = callUrl(service.proxy.url, form, locale);
    const { wireBytes, ...received } = await browser.fetch(url);
    expect(received).toEqual({ version: String(version), ...(await contentOf(url)) });
    all.push(wireBytes);
  }
  return all;
}

const eachBelow = (limit: number) => FORMS.map(() => expect.toSatisfy((bytes) => bytes < limit));
const eachAbove = (limit: number) => FORMS.map(() => expect.toSatisfy((bytes) => bytes > limit));

it("a returning browser downloads only what has changed, whichever version it has", async () => {
  const open = async () => DictionaryBrowser.open(await openPage(site()));
  const [daily, weekly, late] = [await open(), await open(), await open()];
  for (const browser of [daily, weekly, late])
    expect(await receive(browser, 1)).toEqual(eachAbove(WHOLE_BYTES));
  expect(await receive(daily, 1, "en")).toEqual(eachBelow(OTHER_LOCALE_BYTES));

  // It has the last body, in the other language: an update in this one costs its own part.
  await service.publish(renamed(2));
  expect(await receive(daily, 2)).toEqual(eachBelow(OTHER_LOCALE_BYTES));
  for (let times = 0; times < 2; times++)
    expect(await receive(daily, 2)).toEqual(eachBelow(UNCHANGED_BYTES));

  await service.publish(renamed(3));
  expect(await receive(daily, 3)).toEqual(eachBelow(DELTA_BYTES));
  await service.publish(renamed(4));
  expect(await receive(weekly, 4)).toEqual(eachBelow(DELTA_BYTES));
  expect(await receive(daily, 4, "en")).toEqual(eachBelow(OTHER_LOCALE_BYTES));
  expect(await receive(daily, 4)).toEqual(eachBelow(OTHER_LOCALE_BYTES));
  expect(await receive(daily, 4, "en")).toEqual(eachBelow(UNCHANGED_BYTES));

  await service.publish(renamed(5));
  expect(await receive(late, 5)).toEqual(eachAbove(WHOLE_BYTES));
  // Even the 304 has made the other language its dictionary again.
  expect(await receive(daily, 5)).toEqual(eachBelow(OTHER_LOCALE_BYTES));

  await service.rollBack(4);
  expect(await receive(daily, 6)).toEqual(eachAbove(WHOLE_BYTES));
  expect(await receive(weekly, 6)).toEqual(eachBelow(UNCHANGED_BYTES));

  await weekly.forget();
  expect(await receive(weekly, 6)).toEqual(eachAbove(WHOLE_BYTES));
});

it("the explorer shows how much an update has downloaded, and an estimate of the full download", async () => {
  const page = await openPage(`${service.proxy.url}/?locale=${LOCALE}`);
  await waitForAnswer(page, LOCALE);
  expect(await factOf(page, "On the wire")).toMatch(/decoded$/);
  await service.publish(renamed(0));
  await page.getByRole("button", { name: "Call again" }).click();
  await page.locator(".call-fact", { hasText: "instead of about" }).waitFor();
  expect(await factOf(page, "On the wire")).toMatch(/^\d{3} Binstead of about 1\d\d KB$/);
  expect(await factOf(page, "Compression")).toMatch(/^dcz[\d,.]+ times smaller$/);
});
