/**
 * `npm run bench:growth`: what an ingest costs when the number of locales grows, and the world up to
 * what the contract allows. A larger world takes the snapshot's place among the Worker's assets, and is
 * ingested in workerd.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import snapshotManifest from "../data/snapshot/manifest.json" with { type: "json" };
import type { IsolateHeap } from "../test/chaos/isolate-heap.ts";
import { BenchWorker } from "./bench-worker.ts";
import { writeWorld } from "./growth-world.ts";
import { HEAP_MB, HeapTrace, ISOLATE_MB, TRACED } from "./heap-trace.ts";
import { heardOf, ingest } from "./ingest.ts";
import { printTable, type Table } from "./report.ts";
import { round } from "./statistics.ts";
import { type LoggedStep, type StepCost, StepCosts } from "./step-costs.ts";

const MIB = 2 ** 20;
/** The guards where there is a version to compare with. */
const COMPARING = "guard, compared";
const LOOK_MS = 5;

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1,1.9" },
    locales: { type: "string", default: "en,de,ja,ru" },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench:growth -- [--sizes LIST] [--locales LIST] [--json FILE]

  --sizes LIST    how many times the world, separated by commas, up to 1.9 (default 1,1.9)
  --locales LIST  what is published, separated by commas (default en,de,ja,ru)
  --json FILE     write a summary to a file instead of the tables

Each world is ingested in one locale and in all of them, for the time, and again for the memory.
`);
  process.exit(0);
}
const locales = values.locales.split(",");

/** An ingest of a world in short. */
export interface GrowthSummary {
  readonly times: number;
  readonly locales: number;
  readonly entities: number;
  /** CPU of all of workerd, compression and stores included. */
  readonly cpuMs: number;
  /** Most memory (MiB) that the isolate held during a step. */
  readonly heldMb: number;
}

/** What a world came to. */
interface Measured {
  readonly times: number;
  readonly locales: readonly string[];
  readonly airports: number;
  readonly entities: number;
  /** Length of the longest message. */
  readonly messageBytes: number;
  /** Of the run that publishes, and of comparing with what it published. */
  readonly costs: readonly StepCost[];
  /** The same again, where garbage is collected all the time: for its memory. */
  readonly weighed: readonly StepCost[];
}

const measured: Measured[] = [];
for (const times of values.sizes.split(",").map(Number))
  for (const count of new Set([1, locales.length]))
    measured.push(await measure(times, locales.slice(0, count)));
if (values.json === undefined) process.stdout.write(report(measured));
else writeFileSync(values.json, JSON.stringify(measured.map(summarize)));

function summarize({ times, locales: some, entities, costs, weighed }: Measured): GrowthSummary {
  const cpuMs = sum(costs, "cpuMs");
  return { times, locales: some.length, entities, cpuMs, heldMb: mostOf(weighed) };
}

async function measure(times: number, some: readonly string[]): Promise<Measured> {
  const world = mkdtempSync(join(tmpdir(), "growth-"));
  try {
    const folder = join(world, "snapshot", snapshotManifest.snapshot);
    cpSync("data/snapshot", folder, { recursive: true });
    writeWorld(folder, times, some);
    process.stderr.write(`${times} times the world in ${some.length} …\n`);
    const timed = await ingestWorld(world, some, "");
    process.stderr.write(`${times} times the world in ${some.length}, for its memory …\n`);
    const { costs: weighed } = await ingestWorld(world, some, TRACED);
    return { times, locales: some, ...timed, weighed };
  } finally {
    rmSync(world, { recursive: true, force: true });
  }
}

/** Ingests a world into empty stores; then dry, compared with what was published. */
async function ingestWorld(
  world: string,
  some: readonly string[],
  v8Flags: string,
): Promise<Omit<Measured, "times" | "locales" | "weighed">> {
  const memory = new HeapTrace();
  const nameOf = ({ stage, progress }: LoggedStep) => {
    if (stage !== "encode") return stage;
    return progress.done > progress.total - some.length ? "encode, locales" : "encode, common part";
  };
  const steps = new StepCosts({ nameOf, memory });
  const worker = await BenchWorker.start({
    v8Flags,
    inspected: v8Flags !== "",
    hear: (line) => steps.hear(line),
    assets: world,
    vars: { LOCALES: some.join(",") },
  });
  const over = new AbortController();
  const watching = v8Flags === "" ? undefined : watch(await worker.heap(), memory, over.signal);
  try {
    steps.begin();
    await ingest(worker, {});
    await heardOf(steps, "verify");
    const published = steps.all;
    steps.begin();
    await ingest(worker, { mode: "dry_run" });
    await heardOf(steps, "guard");
    const compared = steps.all.filter(({ name }) => name === "guard");
    const { counts, locales: bodies } = await worker.health();
    return {
      airports: counts.airports,
      entities: Object.values(counts).reduce((total, count) => total + count, 0),
      messageBytes: Math.max(...bodies.map(({ bytes }) => bytes)),
      costs: [...published, ...compared.map((cost) => ({ ...cost, name: COMPARING }))],
    };
  } finally {
    over.abort();
    await watching;
    await worker.stop();
  }
}

/** Looks at the memory of an isolate between V8's collections: there are few while it compresses. */
async function watch(heap: IsolateHeap, memory: HeapTrace, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    memory.see(await heap.takenMb());
    await sleep(LOOK_MS);
  }
  heap.close();
}

/** Of the run that publishes. */
function sum(costs: readonly StepCost[], of: "wallMs" | "cpuMs"): number {
  return costs
    .filter(({ name }) => name !== COMPARING)
    .reduce((total, cost) => total + cost[of], 0);
}

function mostOf(costs: readonly StepCost[]): number {
  return Math.max(...costs.map(({ peakMb }) => peakMb));
}

function report(all: readonly Measured[]): string {
  const heads = all.map(({ times, locales: some }) => `${times}× in ${some.length}`);
  const facts: Table = {
    title: `A growing world, in one locale and in ${locales.join(", ")}`,
    columns: ["", ...heads],
    rows: [
      ["airports", ...all.map(({ airports }) => String(airports))],
      ["entities", ...all.map(({ entities }) => String(entities))],
      ["longest message, MiB", ...all.map(({ messageBytes }) => round(messageBytes / MIB, 2))],
    ],
  };
  const names = all[0]?.costs.map(({ name }) => name) ?? [];
  const table = (title: string, of: (one: Measured, name: string) => number, whole: number[]) =>
    printTable({
      title,
      columns: ["stage", ...heads],
      rows: [
        ...names.map((name) => [name, ...all.map((one) => round(of(one, name), 0))]),
        ["whole run", ...whole.map((value) => round(value, 0))],
      ],
    });
  const find = (costs: readonly StepCost[], name: string) =>
    costs.find((cost) => cost.name === name);
  const timesOf = (of: "wallMs" | "cpuMs") =>
    table(
      of === "wallMs" ? "Time, ms" : "CPU of all of workerd, this machine's stores included, ms",
      ({ costs }, name) => find(costs, name)?.[of] ?? NaN,
      all.map(({ costs }) => sum(costs, of)),
    );
  const held = table(
    `Most that a step held, MB of the ${ISOLATE_MB} of an isolate`,
    ({ weighed }, name) => find(weighed, name)?.peakMb ?? NaN,
    all.map(({ weighed }) => mostOf(weighed)),
  );
  return `${printTable(facts)}${timesOf("wallMs")}${timesOf("cpuMs")}${held}
Held is what the isolate's heap and the buffers outside of it came to at most during a step, when
garbage was collected and in between, in a run of its own where V8 collects it often, in a heap
limited to ${HEAP_MB} MB. What is garbage by then counts.
`;
}
