/**
 * `npm run bench:search`: how long the explorer's search takes for each letter, with all places, and the
 * service's suggestions.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { otherNames, rankPlaces } from "../web/build/search-files.ts";
import { packCatalog, unpackCatalog } from "../client/src/catalog.ts";
import { readRanks } from "../client/src/search/ranks.ts";
import { countryNames } from "../client/src/search/country-names.ts";
import { search } from "../client/src/search/search.ts";
import { addOtherNames, createSearchIndex } from "../client/src/search/search-index.ts";
import { median } from "./statistics.ts";
import { snapshotResponse } from "../test/builders/snapshot-response.ts";

interface Isolate {
  readonly firstMs: number;
  readonly warmMs: number;
}

/** A frame of 60 a second. */
const FRAME_MS = 1000 / 60;
const ROUNDS = 20;
/** What an answer of `/search/v1/suggest` may take. */
const FIRST_MAX_MS = 5;
const WARM_MAX_MS = 1;
const ISOLATES = 5;
const TYPED = [
  "london heathrow",
  "new york",
  "münchen",
  "Frankfrut",
  "barcelna airport",
  "airports in germany",
  "saopaulo",
  "москва",
  "東京",
];

/** What nobody types, but somebody pastes. */
const UNUSUAL = {
  "letters alone": "a b c d e f g h",
  "beginnings of many names": "sa ma ba ca la pa ka na",
  "2,000 words": "airport ".repeat(2_000),
  "2,000 other words": Array.from({ length: 2_000 }, (_, at) => `xq${at.toString(36)}`).join(" "),
  "a long word": "a".repeat(20_000),
};

const ranks = readRanks(rankPlaces());
const packed = packCatalog(snapshotResponse(), ranks);
const unpackStart = process.cpuUsage();
const catalog = await unpackCatalog(packed);
report("the page joins the catalog", cpuSince(unpackStart));
const otherNamesFile = otherNames();
const indexStart = process.cpuUsage();
const names = new Intl.DisplayNames(["en"], { type: "region" });
const index = createSearchIndex(catalog, ({ code }) => names.of(code) ?? code);
addOtherNames(index, { names: otherNamesFile, countryNames });
report("the worker makes the index", cpuSince(indexStart));
let worst = 0;
for (const typed of TYPED) {
  const times = Array.from({ length: typed.length }, (_, letter) =>
    timeOf(typed.slice(0, letter + 1)),
  );
  worst = Math.max(worst, ...times);
  report(`${typed}: the slowest letter`, Math.max(...times));
}
for (const [what, typed] of Object.entries(UNUSUAL)) {
  const time = timeOf(typed);
  worst = Math.max(worst, time);
  report(what, time);
}
const isolates: Isolate[] = [];
for (let isolate = 0; isolate < ISOLATES; isolate++) {
  const [measured] = await once(new Worker("./bench/suggestions.ts"), "message");
  isolates.push(measured as Isolate); // as that file posts it
}
const firstMs = median(isolates.map((one) => one.firstMs));
const warmMs = median(isolates.map((one) => one.warmMs));
report("the service's first suggestions in an isolate", firstMs);
report("and later ones", warmMs);
if (worst > FRAME_MS || firstMs > FIRST_MAX_MS || warmMs > WARM_MAX_MS) process.exitCode = 1;

function timeOf(typed: string): number {
  const start = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) search(index, typed);
  return cpuSince(start) / ROUNDS;
}

/** CPU time in milliseconds, which other work on the machine does not count into. */
function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function report(what: string, ms: number): void {
  console.log(`${what}: ${ms.toFixed(ms < 1 ? 2 : 1)} ms`);
}
