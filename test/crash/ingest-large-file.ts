/**
 * Compares a file as long as OurAirports' with the snapshot, and then with what was accepted, and
 * builds a catalog, for a test that runs this with little memory. Writes what came of it as JSON to standard output.
 */
import { AIRPORT_COLUMNS } from "../../data/build/airport-columns.ts";
import { ledgerOf } from "../../src/ingest/ledger-files.ts";
import { concatenate, sha256Hex } from "../../src/catalog/bytes.ts";
import { acceptSources } from "../../src/ingest/accept-sources.ts";
import { ourAirports } from "../../src/sources/our-airports.ts";
import { createWorkspace } from "../../src/ingest/workspace.ts";
import { readCsv } from "../../src/sources/csv.ts";
import { snapshotOpener } from "../../src/sources/snapshot.ts";
import { memorySourceArchive } from "../builders/memory-source-archive.ts";
import { snapshotManifest, snapshotOnDisk } from "../builders/snapshot-on-disk.ts";
import { csvOf, type Row } from "../builders/source.ts";
import { DEPLOYED_LIMITS } from "../builders/hold-limits.ts";

const ROWS = 84_000;
/** Words such as the live file has, which the snapshot leaves out. */
const KEYWORDS = "a former name, a name in another language, the name of a town nearby";

const open = snapshotOpener(snapshotOnDisk);
const encoder = new TextEncoder();
let bytes = 0;

/** Rows with IATA codes first, then the same ones without, again and again. */
async function* largeFile(): AsyncGenerator<Uint8Array> {
  yield count(csvOf([]));
  let rows = 0;
  while (rows < ROWS)
    for await (const row of readCsv("airports.csv", await open("airports.csv.gz"), [])) {
      const own: Row = Object.fromEntries(AIRPORT_COLUMNS.map((name) => [name, row.get(name)]));
      const code = rows < snapshotManifest.counts.airports ? {} : { iata_code: "" };
      // A vandal has changed every tenth name.
      const name = rows % 10 === 0 ? { name: `Ghost ${rows}` } : {};
      yield count(
        csvOf([{ ...own, ...name, ...code, keywords: KEYWORDS }]).slice(csvOf([]).length),
      );
      if (++rows === ROWS) return;
    }
}

function count(text: string): Uint8Array {
  const chunk = encoder.encode(text);
  bytes += chunk.length;
  return chunk;
}

async function archive(bytesOfFile: Uint8Array): Promise<string> {
  const sha256 = sha256Hex(bytesOfFile);
  await files.write(sha256, bytesOfFile);
  return sha256;
}

const files = memorySourceArchive();
const chunks: Uint8Array[] = [];
for await (const chunk of largeFile()) chunks.push(chunk);
const sources = {
  "airports.csv": await archive(concatenate(chunks.splice(0))),
  "regions.csv": await archive(encoder.encode("code,name\n")),
};
const deps = { archive: files, openSnapshot: open, limits: DEPLOYED_LIMITS, now: Date.now };
const request = {
  source: "ourairports",
  reader: ourAirports,
  sources,
  decisions: [],
  mode: "incremental",
  runId: "run",
} as const;
const first = await acceptSources(deps, { ...request, ledgers: [] });
const ledger = ledgerOf(first.files);
if (ledger === null) throw new Error("nothing was accepted");
const {
  read,
  held,
  files: accepted,
} = await acceptSources(deps, { ...request, ledgers: [ledger] });
const { catalog } = await createWorkspace(
  { ...sources, ...accepted },
  async (file, sha256) => files.open(file, sha256),
  open,
);
const built = { airports: catalog.airports.length, regions: catalog.regions.length };
const { seen, filtered } = read;
process.stdout.write(JSON.stringify({ bytes, seen, filtered, held: held.waiting, ...built }));
