/**
 * Compares a file of upstream with the snapshot for some days, as the parse stage of a daily run
 * does, and builds the catalog. Prints how many changes each rule marks, as the table in
 * docs/upstream.md, what is served otherwise than on the first day, the CPU time of a day, and the
 * largest heap. With a port, it then answers any request with the catalog of the last day, as
 * GetLocationsV1 does in English and JSON, for scripts that compare it with other lists.
 *
 *     node bench/upstream.ts airports.csv regions.csv [days] [port]
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { HELD_RULES } from "../src/acceptance/held-change.ts";
import { type LedgerFiles, ledgerOf, readLedger } from "../src/acceptance/ledger-files.ts";
import { sha256Hex } from "../src/catalog/bytes.ts";
import { SAME_POSITION_KM } from "../src/acceptance/airport.ts";
import { commonPieces, localPieces } from "../src/catalog/encode.ts";
import { compareIds } from "../src/catalog/ids.ts";
import type { Airport } from "../src/catalog/model.ts";
import { distanceKm } from "../src/catalog/positions.ts";
import { acceptSources } from "../src/ingest/accept-sources.ts";
import { createWorkspace } from "../src/ingest/workspace.ts";
import { ourAirports } from "../src/sources/our-airports.ts";
import { nameFile, type Table } from "../src/sources/source-file.ts";
import { DEPLOYED_LIMITS } from "../test/builders/surprise-limits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST_DAY = Date.parse("2026-11-01T04:17:00.000Z");

const [airports, regions, days = "5", port] = process.argv.slice(2);
if (airports === undefined || regions === undefined) {
  console.error("usage: node bench/upstream.ts airports.csv regions.csv [days] [port]");
  process.exit(2);
}

const files = new Map<string, Uint8Array<ArrayBuffer>>();
const archive = {
  write: async (sha256: string, bytes: Uint8Array) => void files.set(sha256, new Uint8Array(bytes)),
  read: async (sha256: string) => files.get(sha256)?.slice() ?? null,
  open: async (_file: string, sha256: string) =>
    new Blob([files.get(sha256) ?? new Uint8Array()]).stream(),
};
const openSnapshot = async (name: string) =>
  new Blob([gunzipSync(readFileSync(`data/snapshot/${name}`))]).stream();
const sources = { ...archived("airports.csv", airports), ...archived("regions.csv", regions) };

function archived(table: Table, path: string) {
  const bytes = new Uint8Array(readFileSync(path));
  const sha256 = sha256Hex(bytes);
  files.set(sha256, bytes);
  const name = nameFile(table, { where: path, bytes, maxBytes: 64 * 1024 * 1024 });
  return { [name]: sha256 };
}

/** Counts what each rule marks, with the first examples, as Markdown. */
async function heldTable(made: { readonly [file: string]: string }): Promise<string> {
  const { ledger } = await readLedger(
    archive,
    [ledgerOf(made)].filter((each) => each !== null),
  );
  const waiting = (ledger?.held ?? []).filter(({ state }) => state === "waiting");
  const rows = HELD_RULES.map((rule) => ({
    rule,
    held: waiting.filter(({ rules }) => rules.includes(rule)),
  }))
    .filter(({ held }) => held.length > 0)
    .toSorted((a, b) => b.held.length - a.held.length)
    .map(({ rule, held }) => {
      const examples = held.slice(0, 3).map(({ iata, name }) => `${name} (${iata})`);
      return `| \`${rule}\` | ${held.length} | ${examples.join(", ")} |`;
    });
  const others = waiting.filter(({ rules }) => rules.length === 0).length;
  rows.push(`| none | ${others} | |`);
  return ["| rule | marked | the first |", "| --- | --: | --- |", ...rows].join("\n");
}

/** Counts the airports that are served otherwise, with the first examples of each kind. */
function servedOtherwise(before: readonly Airport[], after: readonly Airport[]): string {
  const known = new Map(before.map((airport) => [airport.iata, airport]));
  const codes = new Set(after.map(({ iata }) => iata));
  const differing = (isOther: (one: Airport, other: Airport) => boolean) =>
    after.filter((airport) => {
      const other = known.get(airport.iata);
      return other !== undefined && isOther(airport, other);
    });
  const kinds = {
    new: after.filter(({ iata }) => !known.has(iata)),
    gone: before.filter(({ iata }) => !codes.has(iata)),
    renamed: differing((a, b) => a.name !== b.name),
    "another ICAO code": differing((a, b) => a.icao !== b.icao),
    moved: differing((a, b) => distanceKm(a, b) > SAME_POSITION_KM),
    "another city": differing((a, b) => compareIds(a.cityId, b.cityId) !== 0),
  };
  return Object.entries(kinds)
    .map(([kind, found]) => {
      const examples = found.slice(0, 3).map(({ iata, name }) => `${iata} ${name}`);
      return `${found.length} ${kind}${found.length > 0 ? ` (${examples.join(", ")})` : ""}`;
    })
    .join("; ");
}

let heap = 0;
const sampler = setInterval(() => {
  heap = Math.max(heap, process.memoryUsage().heapUsed);
}, 5);
let ledgers: readonly LedgerFiles[] = [];
let first: readonly Airport[] | undefined;
let answer = new Uint8Array();
for (let day = 0; day < Number(days); day++) {
  const before = process.cpuUsage();
  const accepted = await acceptSources(
    { archive, openSnapshot, limits: DEPLOYED_LIMITS, now: () => FIRST_DAY + day * DAY_MS },
    {
      source: "ourairports",
      reader: ourAirports,
      sources,
      ledgers,
      decisions: [],
      mode: "incremental",
      runId: "bench",
    },
  );
  const all = { ...sources, ...accepted.files };
  const workspace = await createWorkspace(all, archive.open, openSnapshot);
  const { catalog, new_regions, city_origins } = workspace;
  const ledger = ledgerOf(accepted.files);
  ledgers = ledger === null ? [] : [ledger];
  const { user, system } = process.cpuUsage(before);
  console.log(
    `day ${day + 1}: ${catalog.airports.length} airports of ${accepted.read.seen} rows, CPU ${((user + system) / 1e6).toFixed(2)} s`,
  );
  console.log("  in use and listed", JSON.stringify(accepted.listed));
  console.log("  held", JSON.stringify(accepted.held));
  const sizes = Object.entries(accepted.files).map(
    ([name, sha256]) => `${name} ${files.get(sha256)?.length} bytes`,
  );
  console.log("  ledger", sizes.join(", "));
  first ??= catalog.airports;
  console.log("  served otherwise than on day 1:", servedOtherwise(first, catalog.airports));
  const pieces = [
    ...commonPieces(catalog, "json"),
    ...localPieces(catalog.regions, await workspace.namesIn("en"), "json"),
  ];
  answer = Buffer.concat(pieces);
  if (day === 0) console.log(await heldTable(accepted.files));
  if (day === 0) console.log("  cities", city_origins, "new regions", new_regions.join(", "));
}
clearInterval(sampler);
console.log(`largest heap ${(heap / 1e6).toFixed(0)} MB`);
if (port !== undefined)
  createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(answer);
  }).listen(Number(port), "127.0.0.1");
