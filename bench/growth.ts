/**
 * `npm run bench:growth`: what an ingest costs when the world grows. The snapshot is taken once,
 * three and ten times over, takes the snapshot's place in the Worker's bundle, and is ingested in
 * workerd.
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { IsolateHeap } from "../test/chaos/isolate-heap.ts";
import { BenchWorker } from "./bench-worker.ts";
import { writeWorld } from "./growth-world.ts";
import { HEAP_MB, HeapTrace, ISOLATE_MB, TRACED } from "./heap-trace.ts";
import { heardOf, ingest } from "./ingest.ts";
import { printTable } from "./report.ts";
import { round } from "./statistics.ts";
import { type LoggedStep, type StepCost, StepCosts } from "./step-costs.ts";

const MIB = 2 ** 20;
/** The guards where there is a version to compare with. */
const COMPARING = "guard, compared";
const EACH_LOCALE = "encode a locale";
const LOOK_MS = 5;

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1,3,10" },
    locales: { type: "string", default: "de,en,ja,ru" },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench:growth -- [--sizes LIST] [--locales LIST] [--json FILE]

  --sizes LIST    how many times the world, separated by commas (default 1,3,10)
  --locales LIST  what is published, separated by commas (default de,en,ja,ru)
  --json FILE     write a summary to a file instead of the tables

Ten worlds take some ten minutes, for each world is ingested twice: for the time, and for the memory.
`);
  process.exit(0);
}
const sizes = values.sizes.split(",").map(Number);
const locales = values.locales.split(",");

/** An ingest of a world in short. */
export interface GrowthSummary {
  readonly times: number;
  readonly entities: number;
  /** CPU of all of workerd, compression and stores included. */
  readonly cpuMs: number;
  /** Of that, what each locale takes: the rest is the same for any number of them. */
  readonly localeCpuMs: number;
  /** Most memory (MiB) that the isolate held during a step. */
  readonly heldMb: number;
}

/** What a world came to. */
interface Measured {
  readonly times: number;
  readonly airports: number;
  readonly entities: number;
  /** Length of the longest message. */
  readonly messageBytes: number;
  /** What the contract's guards say of it. */
  readonly refusals: readonly string[];
  /** Of the run that publishes, and of comparing with what it published. */
  readonly costs: readonly StepCost[];
  /** The same again, where garbage is collected all the time: for its memory. */
  readonly weighed: readonly StepCost[];
}

const measured: Measured[] = [];
for (const times of sizes) measured.push(await measure(times));
if (values.json === undefined) process.stdout.write(report(measured));
else writeFileSync(values.json, JSON.stringify(measured.map(summarize)));

function summarize({ times, entities, costs, weighed }: Measured): GrowthSummary {
  const { cpuMs = NaN, steps = NaN } = costs.find(({ name }) => name === EACH_LOCALE) ?? {};
  const localeCpuMs = cpuMs / steps;
  return { times, entities, cpuMs: sum(costs, "cpuMs"), localeCpuMs, heldMb: mostOf(weighed) };
}

async function measure(times: number): Promise<Measured> {
  const world = mkdtempSync(join(tmpdir(), "growth-"));
  try {
    writeWorld(world, times, locales);
    process.stderr.write(`${times} times the world …\n`);
    const timed = await ingestWorld(world, "");
    process.stderr.write(`${times} times the world, for its memory …\n`);
    return { times, ...timed, weighed: (await ingestWorld(world, TRACED)).costs };
  } finally {
    rmSync(world, { recursive: true, force: true });
  }
}

/**
 * Ingests a world into empty stores: dry, to hear the contract's guards; then beyond them; and dry
 * once more, compared with what was published.
 */
async function ingestWorld(
  world: string,
  v8Flags: string,
): Promise<Omit<Measured, "times" | "weighed">> {
  const memory = new HeapTrace();
  const steps = new StepCosts({ nameOf, memory });
  const worker = await BenchWorker.start({
    entry: "bench/growth-worker.ts",
    v8Flags,
    inspected: v8Flags !== "",
    hear: (line) => steps.hear(line),
    adapt: (bundle) => replaceSnapshot(bundle, world),
    vars: { LOCALES: values.locales },
  });
  const over = new AbortController();
  const watching = v8Flags === "" ? undefined : watch(await worker.heap(), memory, over.signal);
  try {
    const { guards } = await ingest(worker, { mode: "dry_run" });
    await heardOf(steps, "guard");
    await worker.call("POST", "/lift-limits");
    steps.begin();
    await ingest(worker, {});
    await heardOf(steps, "verify");
    const published = steps.all;
    steps.begin();
    await ingest(worker, { mode: "dry_run" });
    await heardOf(steps, "guard");
    const compared = steps.all.filter(({ name }) => name === "guard");
    const costs = [...published, ...compared.map((cost) => ({ ...cost, name: COMPARING }))];
    const { counts, locales: bodies } = await worker.health();
    return {
      airports: counts.airports,
      entities: Object.values(counts).reduce((total, count) => total + count, 0),
      messageBytes: Math.max(...bodies.map(({ bytes }) => bytes)),
      refusals: guards.map(({ message }) => message),
      costs,
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

/** Puts the files of a world into a bundle, which names them by a hash and their own name. */
function replaceSnapshot(bundle: string, world: string): void {
  const bundled = readdirSync(bundle);
  for (const file of readdirSync(world, { recursive: true }).map(String)) {
    if (!file.endsWith(".gz")) continue;
    const [place, ...more] = bundled.filter(
      (name) => name.slice(name.indexOf("-") + 1) === basename(file),
    );
    if (place === undefined || more.length > 0) throw new Error(`${file} has no place of its own`);
    copyFileSync(join(world, file), join(bundle, place));
  }
}

/** The steps of the common part, and those of locales, are different kinds. */
function nameOf({ stage, progress }: LoggedStep): string {
  if (stage !== "encode") return stage;
  return progress.done > progress.total - locales.length ? EACH_LOCALE : "encode, common part";
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
  const names = all[0]?.costs.map(({ name }) => name) ?? [];
  const columns = ["wall ms", "CPU ms", "held MB"];
  const cells = (of: (one: Measured) => readonly number[]) =>
    columns.flatMap((_, column) => all.map((one) => round(of(one)[column] ?? NaN, 0)));
  const find = (costs: readonly StepCost[], name: string) =>
    costs.find((cost) => cost.name === name);
  const rows = names.map((name) => [
    name,
    ...cells(({ costs, weighed }) => {
      const { wallMs = NaN, cpuMs = NaN } = find(costs, name) ?? {};
      return [wallMs, cpuMs, find(weighed, name)?.peakMb ?? NaN];
    }),
  ]);
  const whole = cells(({ costs, weighed }) => [
    sum(costs, "wallMs"),
    sum(costs, "cpuMs"),
    mostOf(weighed),
  ]);
  const facts = printTable({
    title: "The worlds",
    columns: ["", ...all.map(({ times }) => `${times}×`)],
    rows: [
      ["airports", ...all.map(({ airports }) => String(airports))],
      ["entities", ...all.map(({ entities }) => String(entities))],
      ["longest message, MB", ...all.map(({ messageBytes }) => round(messageBytes / MIB, 1))],
      [
        "CPU ms for 1,000 entities in a locale",
        ...all.map(({ costs, entities }) =>
          round((sum(costs, "cpuMs") / entities / locales.length) * 1000, 1),
        ),
      ],
    ],
  });
  const table = printTable({
    title: `A growing world in ${locales.length} locales (${locales.join(", ")})`,
    columns: [
      "stage",
      ...columns.flatMap((column) => all.map(({ times }) => `${times}× ${column}`)),
    ],
    rows: [...rows, ["whole run", ...whole]],
  });
  const refused = all.flatMap(({ times, refusals }) =>
    refusals.map((refusal) => `${times}×: ${refusal}\n`),
  );
  return `${facts}${table}
CPU is that of all of workerd: the Worker's, and that of this machine's stores. Held is what the
isolate's heap and the buffers outside of it came to at most during a step, when garbage was
collected and in between, in a run of its own where V8 collects it often, in a heap limited to
${HEAP_MB} MB. What is garbage by then counts. An isolate may hold ${ISOLATE_MB} MB.

What the contract's guards say, before anything is stored (the runs above go on without them):
${refused.join("") || "nothing\n"}`;
}
