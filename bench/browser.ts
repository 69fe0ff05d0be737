import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import {
  callUrl,
  contentOf,
  DictionaryBrowser,
  FORMS,
  startSite,
} from "../web/test/browser/dictionary-browser.ts";
import { findBrowser } from "../test/find-program.ts";
import type { BenchWorker } from "./bench-worker.ts";
import type { Table } from "./report.ts";
import { round } from "./statistics.ts";
import { publish } from "./updates.ts";

/** What a traveller does in turn. */
const VISITS: readonly {
  readonly what: string;
  readonly locale: string;
  readonly update?: true;
}[] = [
  { what: "first visit, in English", locale: "en" },
  { what: "English, unchanged", locale: "en" },
  { what: "English after an update", locale: "en", update: true },
  { what: "German", locale: "de" },
  { what: "back in English", locale: "en" },
  { what: "German after an update", locale: "de", update: true },
  { what: "English after that update", locale: "en" },
];

/** Measures what Chromium downloads while one traveller visits again, in either language. */
export async function measureBrowser(worker: BenchWorker): Promise<Table> {
  const site = await startSite();
  const browser = await chromium.launch({
    executablePath: findBrowser() ?? "chromium",
    args: ["--no-sandbox"],
  });
  try {
    await publish(worker, 0);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`); // of a TCP server
    const client = await DictionaryBrowser.open(page);
    let updates = 0;
    const rows: string[][] = [];
    for (const { what, locale, update } of VISITS) {
      if (update) await publish(worker, ++updates);
      const sizes: number[] = [];
      for (const form of FORMS) {
        const url = callUrl(`http://127.0.0.1:${worker.port}`, form, locale);
        const { wireBytes, sha256 } = await client.fetch(url);
        if (sha256 !== (await contentOf(url)).sha256) throw new Error(`${what}: other bytes`);
        sizes.push(wireBytes / 1000);
      }
      rows.push([what, ...sizes.map((kb) => round(kb, 1))]);
    }
    return {
      title:
        "What Chromium downloads of the whole catalog, headers included. An update renames ten airports",
      columns: ["in turn", "protobuf, kB", "JSON, kB"],
      rows,
    };
  } finally {
    await browser.close();
    site.close();
  }
}
