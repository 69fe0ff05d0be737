import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LOCALE, usePublishingService } from "../builders/publishing-service.ts";
import { CALL } from "../system/http.ts";
import { openPage, useBrowser } from "./browser.ts";

useBrowser();
const service = usePublishingService();

/** Serves an empty page at another origin of the same site. */
const server = createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end('<!doctype html><link rel="icon" href="data:," />');
});
let origin = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // of a TCP server
});
afterAll(() => void server.close());

/** What of an answer went over the wire, with its headers, and what the page received. */
interface Received {
  readonly version: string | undefined;
  readonly wireBytes: number;
  readonly bytes: number;
  readonly sha256: string;
}

const QUERIES = {
  proto: (locale: string) =>
    `connect=v1&encoding=proto&base64=1&message=${Buffer.from(`\n\x02${locale}`).toString("base64url")}`,
  json: (locale: string) =>
    `connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ locale }))}`,
};
type Form = keyof typeof QUERIES;

/** Renames ten airports. */
function renamed(version: number): (airports: string) => string {
  return (airports) => {
    let left = 10;
    return airports.replaceAll(" Airport", (name) => (left-- > 0 ? ` Airfield ${version}` : name));
  };
}

class Browser {
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static async open(): Promise<Browser> {
    const page = await openPage(origin);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    return new Browser(page, session);
  }

  /** Loses its cache and its dictionaries. */
  async forget(): Promise<void> {
    await this.#session.send("Network.clearBrowserCache");
  }

  /** Asks the service past what is fresh in the browser's cache. */
  async fetch(form: Form, locale = LOCALE): Promise<Received> {
    let answer: { requestId: string; response: { headers: Record<string, string> } } | undefined;
    const finished = new Promise<number>((resolve) => {
      this.#session.once("Network.responseReceived", (received) => (answer = received));
      this.#session.once("Network.loadingFinished", (loaded) => resolve(loaded.encodedDataLength));
    });
    const url = `${service.proxy.url}${CALL}?${QUERIES[form](locale)}`;
    const { sha256, bytes } = await this.#page.evaluate<{ sha256: string; bytes: number }>(
      `(async () => {
        const response = await fetch(${JSON.stringify(url)}, { cache: "no-cache" });
        const bytes = await response.arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        return { bytes: bytes.byteLength, sha256: hash.toHex() };
      })()`,
    );
    const wireBytes = await finished;
    const headers = answer?.response.headers ?? {};
    return {
      version: headers["catalog-version"],
      wireBytes,
      bytes,
      sha256,
    };
  }
}

const FORMS = ["proto", "json"] as const;
/** A first answer; the headers of each are almost 900 bytes. */
const WHOLE_BYTES = 100_000;
const DELTA_BYTES = 2_048;
const UNCHANGED_BYTES = 1_024;

/** What a client without a dictionary receives. */
async function served(form: Form, locale: string): Promise<Pick<Received, "bytes" | "sha256">> {
  const response = await fetch(`${service.proxy.url}${CALL}?${QUERIES[form](locale)}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Asks in both forms, checks the content and tells how many bytes went over the wire. */
async function receive(browser: Browser, version: number, locale = LOCALE): Promise<number[]> {
  const all: number[] = [];
  for (const form of FORMS) {
    const { wireBytes, ...received } = await browser.fetch(form, locale);
    expect(received).toEqual({ version: String(version), ...(await served(form, locale)) });
    all.push(wireBytes);
  }
  return all;
}

const eachBelow = (limit: number) => FORMS.map(() => expect.toSatisfy((bytes) => bytes < limit));
const eachAbove = (limit: number) => FORMS.map(() => expect.toSatisfy((bytes) => bytes > limit));

it("a browser that returns pays for what has changed, of whichever version it has", async () => {
  const [daily, weekly, late] = [await Browser.open(), await Browser.open(), await Browser.open()];
  for (const browser of [daily, weekly, late])
    expect(await receive(browser, 1)).toEqual(eachAbove(WHOLE_BYTES));
  expect(await receive(daily, 1, "en")).toEqual(eachAbove(WHOLE_BYTES));

  await service.publish(renamed(2));
  expect(await receive(daily, 2)).toEqual(eachBelow(DELTA_BYTES));
  for (let times = 0; times < 2; times++)
    expect(await receive(daily, 2)).toEqual(eachBelow(UNCHANGED_BYTES));

  await service.publish(renamed(3));
  expect(await receive(daily, 3)).toEqual(eachBelow(DELTA_BYTES));
  await service.publish(renamed(4));
  expect(await receive(weekly, 4)).toEqual(eachBelow(DELTA_BYTES));
  expect(await receive(daily, 4, "en")).toEqual(eachBelow(DELTA_BYTES));

  await service.publish(renamed(5));
  expect(await receive(late, 5)).toEqual(eachAbove(WHOLE_BYTES));
  expect(await receive(daily, 5)).toEqual(eachBelow(DELTA_BYTES));

  await service.rollBack(4);
  expect(await receive(daily, 6)).toEqual(eachAbove(WHOLE_BYTES));
  expect(await receive(weekly, 6)).toEqual(eachBelow(UNCHANGED_BYTES));

  await weekly.forget();
  expect(await receive(weekly, 6)).toEqual(eachAbove(WHOLE_BYTES));
});
