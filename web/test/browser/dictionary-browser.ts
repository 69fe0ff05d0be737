/** A page of the service's site that calls it, and what that costs. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { CDPSession, Page } from "playwright-core";
import { CALL } from "../../../test/system/http.ts";

/** An answer as the page received it. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

export interface Received extends Content {
  readonly version: string | undefined;
  /** What a cache says of it: `HIT` or `MISS`. */
  readonly cached: string | undefined;
  /** Bytes on the wire, with those of the headers. */
  readonly wireBytes: number;
}

const QUERIES = {
  proto: (locale: string) =>
    `connect=v1&encoding=proto&base64=1&message=${Buffer.from(`\n\x02${locale}`).toString("base64url")}`,
  json: (locale: string) =>
    `connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify({ locale }))}`,
};
type Form = keyof typeof QUERIES;
export const FORMS = ["proto", "json"] as const satisfies readonly Form[];

export function callUrl(service: string, form: Form, locale: string): string {
  return `${service}${CALL}?${QUERIES[form](locale)}`;
}

/** What a client without a dictionary receives. */
export async function contentOf(url: string): Promise<Content> {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Renames ten airports. */
export function renamed(version: number): (airports: string) => string {
  return (airports) => {
    let left = 10;
    return airports.replaceAll(" Airport", (name) => (left-- > 0 ? ` Airfield ${version}` : name));
  };
}

/** Serves an empty page at a free port of this machine: a site that may call the service. */
export async function startSite(): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><link rel="icon" href="data:," />');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export class DictionaryBrowser {
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  /** Watches the calls of a page. */
  static async open(page: Page): Promise<DictionaryBrowser> {
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    return new DictionaryBrowser(page, session);
  }

  /** Loses its cache and its dictionaries. */
  async forget(): Promise<void> {
    await this.#session.send("Network.clearBrowserCache");
  }

  /** Asks past what is fresh in its cache. */
  async fetch(url: string): Promise<Received> {
    let headers: Record<string, string> = {};
    const finished = new Promise<number>((resolve) => {
      this.#session.once("Network.responseReceived", ({ response }) => ({ headers } = response));
      this.#session.once("Network.loadingFinished", (loaded) => resolve(loaded.encodedDataLength));
    });
    const content = await this.#page.evaluate<Content>(
      `(async () => {
        const response = await fetch(${JSON.stringify(url)}, { cache: "no-cache" });
        const bytes = await response.arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        return { bytes: bytes.byteLength, sha256: hash.toHex() };
      })()`,
    );
    const wireBytes = await finished;
    const valueOf = (name: string) =>
      Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    return {
      ...content,
      version: valueOf("catalog-version"),
      cached: valueOf("x-cache"),
      wireBytes,
    };
  }
}
