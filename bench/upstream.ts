/**
 * Compares a file of upstream with the snapshot for some days, as the parse stage of a daily run
 * does, and builds the catalog. Prints how many changes each rule marks, as the table in
 * docs/upstream.md, the CPU time of a day, and the largest heap.
 *
 *     node bench/upstream.ts airports.csv regions.csv [days]
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { RULES } from "../src/acceptance/held-change.ts";
import { type LedgerFiles, ledgerOf, readLedger } from "../src/acceptance/ledger-files.ts";
import { sha256Hex } from "../src/catalog/bytes.ts";
import { acceptSources } from "../src/ingest/accept-sources.ts";
import { createWorkspace } from "../src/ingest/workspace.ts";
import { nameFile, type Table } from "../src/sources/source-file.ts";
import { DEPLOYED_LIMITS } from "../test/builders/surprise-limits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST_DAY = Date.parse("2026-11-01T04:17:00.000Z");

const [airports, regions, days = "5"] = process.argv.slice(2);
if (airports === undefined || regions === undefined) {
  console.error("usage: node bench/upstream.ts airports.csv regions.csv [days]");
  process.exit(2);
}

const files = new Map<string, Uint8Array<ArrayBuffer>>();
const archive = {
  write: async (sha256: string, bytes: Uint8Array) => void files.set(sha256, new Uint8Array(bytes)),
  read: async (sha256: string) => files.get(sha256)?.slice() ?? null,
  open: async (_file: string, sha256: string) =>
    new Blob([files.get(sha256) ?? new Uint8Array()]).stream(),
};
const openSnapshot = (name: string) =>
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
  const rows = RULES.map((rule) => ({
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

let heap = 0;
const sampler = setInterval(() => {
  heap = Math.max(heap, process.memoryUsage().heapUsed);
}, 5);
let ledgers: readonly LedgerFiles[] = [];
for (let day = 0; day < Number(days); day++) {
  const before = process.cpuUsage();
  const accepted = await acceptSources(
    { archive, openSnapshot, limits: DEPLOYED_LIMITS, now: () => FIRST_DAY + day * DAY_MS },
    { source: "ourairports", sources, ledgers, decisions: [], mode: "incremental", runId: "bench" },
  );
  const all = { ...sources, ...accepted.files };
  const { catalog, new_regions, city_origins } = await createWorkspace(
    all,
    archive.open,
    openSnapshot,
  );
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
  if (day === 0) console.log(await heldTable(accepted.files));
  if (day === 0) console.log("  cities", city_origins, "new regions", new_regions.join(", "));
}
clearInterval(sampler);
console.log(`largest heap ${(heap / 1e6).toFixed(0)} MB`);
