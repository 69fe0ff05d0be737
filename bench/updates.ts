import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium, type Page } from "playwright-core";
import { CountingProxy } from "../test/builders/counting-proxy.ts";
import { findBrowser } from "../test/find-program.ts";
import type { BenchWorker } from "./bench-worker.ts";
import { callsFor } from "./calls.ts";
import { ingest } from "./ingest.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { round } from "./statistics.ts";
import { Visitor } from "./visitor.ts";

const RENAMED = 10;
const POLL_MS = 500;

/** What a traveller does in turn. Russian has the longest names. */
const VISITS: readonly {
  readonly what: string;
  readonly locale: string;
  readonly update?: true;
}[] = [
  { what: "first visit, in English", locale: "en" },
  { what: "English, unchanged", locale: "en" },
  { what: "English after an update", locale: "en", update: true },
  { what: "German", locale: "de" },
  { what: "Russian", locale: "ru" },
  { what: "German after an update", locale: "de", update: true },
  { what: "Japanese after an update", locale: "ja", update: true },
];

/** A `Visitor` somewhere. */
type Visit = (locale: string) => Promise<string>;

/** Measures what the package transfers in Node and in Chromium while one traveller visits again. */
export async function measureUpdates(worker: BenchWorker): Promise<Table> {
  const proxy = await CountingProxy.start(`http://127.0.0.1:${worker.port}`);
  const browser = await chromium.launch({
    executablePath: findBrowser() ?? "chromium",
    args: ["--no-sandbox"],
  });
  try {
    await publish(worker, 0);
    // Answers that are no pages forbid scripts.
    const page = await browser.newPage({ bypassCSP: true });
    const visits = [visitorInNode(proxy.url), await visitorIn(page, proxy.url)];
    let updates = 0;
    const rows: string[][] = [];
    for (const { what, locale, update } of VISITS) {
      if (update) await publish(worker, ++updates);
      const sizes: number[] = [];
      for (const visit of visits) {
        proxy.takeBytes();
        if ((await visit(locale)) !== (await sha256In(worker, locale)))
          throw new Error(`${what}: other bytes`);
        sizes.push(proxy.takeBytes() / 1000);
      }
      rows.push([what, ...sizes.map((kb) => round(kb, 1))]);
    }
    return {
      title: `What the package transfers of the whole catalog, headers included. An update renames ${RENAMED} airports`,
      columns: ["in turn", "Node, kB", "Chromium, kB"],
      rows,
    };
  } finally {
    await browser.close();
    await proxy.stop();
  }
}

function visitorInNode(baseUrl: string): Visit {
  // By itself, Node asks for brotli over HTTPS alone.
  const headers = { "accept-encoding": "br" };
  const visitor = new Visitor({
    baseUrl,
    fetch: (input, init) => fetch(input, { ...init, headers }),
  });
  return (locale) => visitor.visit(locale);
}

async function visitorIn(page: Page, baseUrl: string): Promise<Visit> {
  const { outputFiles } = await build({
    entryPoints: ["bench/visitor.ts"],
    bundle: true,
    format: "iife",
    globalName: "bench",
    write: false,
  });
  await page.goto(`${baseUrl}/credits`);
  await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
  await page.evaluate(`visitor = new bench.Visitor({ baseUrl: ${JSON.stringify(baseUrl)} })`);
  return (locale) => page.evaluate<string>(`visitor.visit(${JSON.stringify(locale)})`);
}

/**
 * Ingests the snapshot's airports with some of their names changed, and waits until they are served.
 * The names of all updates but the first are as long as those before.
 */
async function publish(worker: BenchWorker, update: number): Promise<void> {
  let left = update === 0 ? 0 : RENAMED;
  const airports = snapshot("airports.csv.gz").replaceAll(" Airport", (name) =>
    left-- > 0 ? ` Aerodrome ${update}` : name,
  );
  await worker.drop("airports.csv", Buffer.from(airports));
  await worker.drop("regions.csv", Buffer.from(snapshot("regions.csv.gz")));
  const { generation_before, generation_after } = await ingest(worker, { source: "dropped" });
  await served(worker, generation_after ?? generation_before ?? 0);
}

function snapshot(name: string): string {
  return gunzipSync(readFileSync(`data/snapshot/${name}`)).toString();
}

async function headersIn({ port }: BenchWorker, locale: string): Promise<Headers> {
  const get = callsFor(locale).find(({ method }) => method === "GET");
  if (get === undefined) throw new Error("there is no GET");
  return (await send(port, get)).headers;
}

async function sha256In(worker: BenchWorker, locale: string): Promise<string | null> {
  return (await headersIn(worker, locale)).get("catalog-sha256");
}

/** Waits until the isolate, which holds a manifest for half a minute, serves this version. */
async function served(worker: BenchWorker, generation: number): Promise<void> {
  const version = async () => Number((await headersIn(worker, "en")).get("catalog-version"));
  while ((await version()) < generation) await sleep(POLL_MS);
}
