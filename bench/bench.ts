/**
 * `npm run bench`: the service against the least and the most that a Worker can do, in one run, on the
 * same bytes; the cost of a new isolate; the time of each stage of an ingest; and the bytes that the
 * package transfers for an update and another language. Ratios of medians.
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { BenchWorker } from "./bench-worker.ts";
import { CASES, type Case } from "./cases.ts";
import { measureCold } from "./cold.ts";
import { ingestTable, measureStages } from "./ingest.ts";
import { measure } from "./measure.ts";
import { findFalseClaims } from "./claims.ts";
import { printTable, type Table, writeReport } from "./report.ts";
import { prepareCase, type Prepared, type Served, servingTable, teach } from "./serving.ts";
import { StepCosts } from "./step-costs.ts";
import { measureUpdates } from "./updates.ts";

/** What the router learns the message from. */
const EXAMPLE = caseOf("connect-proto-identity");
/** What a new isolate is asked first. */
const COLD = caseOf("connect-proto-br");

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    effort: { type: "string", default: "best" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- [--seconds N] [--only NAMES] [--effort E] [--write]

  --seconds N   how long each server is asked each request, altogether; longer if it is slow
                (default 10)
  --only NAMES  measure only these, separated by commas: requests by their names, "serving" for
                all of them, "ingest", "cold" for new isolates, and "updates" for what the package
                transfers. Serving alone publishes English only
  --effort E    how hard the catalog is compressed, "fast" or "best" (default best)
  --write       also write the tables that docs/performance.md has into that page
`);
  process.exit(0);
}

const PARTS = ["serving", "ingest", "cold", "updates"];
const wanted = values.only === "" ? undefined : values.only.split(",");
const cases = chosenCases();
const forMs = Number(values.seconds) * 1000;
const steps = new StepCosts();
const tables: Table[] = [];
/** Enough to measure a locale: an ingest of all takes eight times as long. */
const SOME_LOCALES = "ar,de,en,es,fr,ja,ru,zh";
const published = isWanted("cold") ? "all" : SOME_LOCALES;
const publishesMany = ["ingest", "cold", "updates"].some(isWanted);
const worker = await BenchWorker.start({
  onLine: (line) => steps.readLine(line),
  vars: {
    COMPRESSION: values.effort,
    LOCALES: publishesMany ? published : "en",
    SURPRISE_HOLD_MS: "0", // an update is published at once
  },
});
try {
  progress("ingest");
  const stages = await measureStages(worker, steps);
  const locales = (await worker.health()).locales.length;
  // After minutes of compression, an isolate is not like those of clients.
  await worker.restart();
  await teach(worker, EXAMPLE);
  const prepared: Prepared[] = [];
  for (const one of cases) prepared.push(await prepareCase(worker, one));
  const served: readonly Served[] =
    prepared.length > 0 ? await measure(prepared, forMs, progress) : [];
  if (served.length > 0) tables.push(servingTable(served));
  if (isWanted("updates")) {
    progress("updates");
    tables.push(await measureUpdates(worker));
  }
  if (isWanted("cold")) {
    progress("new isolates");
    tables.push(await measureCold(worker, COLD));
  }
  if (isWanted("ingest")) tables.push(ingestTable(stages, locales));
} finally {
  await worker.stop();
}
const measured = tables.map((table) => ({ ...table, title: `${table.title}. ${conditions()}` }));
for (const table of measured) process.stdout.write(printTable(table));
if (values.write) {
  writeReport(measured);
  for (const sentence of findFalseClaims()) {
    process.stderr.write(`docs/performance.md is wrong now: ${sentence}\n`);
    process.exitCode = 1;
  }
}

/** Where, when and how all of this run was measured. */
function conditions(): string {
  const processors = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `Measured on ${day}, on ${processors.length} cores of ${processors[0]?.model ?? "an unknown processor"}, at effort ${values.effort}.`;
}

function caseOf(name: string): Case {
  const found = CASES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no request ${name}`);
  return found;
}

function isWanted(name: string): boolean {
  return wanted === undefined || wanted.includes(name);
}

function chosenCases(): readonly Case[] {
  const known = [...CASES.map(({ name }) => name), ...PARTS];
  const unknown = (wanted ?? []).filter((name) => !known.includes(name));
  if (unknown.length === 0)
    return CASES.filter(({ name }) => isWanted(name) || isWanted("serving"));
  throw new Error(`there is no request "${unknown.join('", "')}" among ${known.join(", ")}`);
}

function progress(what: string): void {
  process.stderr.write(`measuring ${what} …\n`);
}
