import { setTimeout as sleep } from "node:timers/promises";
import type { BenchWorker } from "./bench-worker.ts";
import type { Table } from "./report.ts";
import { round } from "./statistics.ts";
import type { StepCost, StepCosts } from "./step-costs.ts";
import { workerdCpuMs, workerdPeakMb } from "./workerd-process.ts";

interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly stage: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly progress: { readonly total: number };
  readonly generation_before: number | null;
  readonly generation_after: number | null;
  readonly guards: readonly { readonly message: string }[];
  readonly error: unknown;
}

/** Seldom, since every look costs CPU as well. */
const POLL_MS = 250;
/** Locales whose bodies are compressed whole, for comparison; the others would take as long. */
const WHOLE_LOCALES = 3;
/** How long the last line of the log may take to arrive. */
const LOG_DEADLINE_MS = 5_000;

/** What a whole ingest took, with its stores. */
export interface IngestStages {
  readonly stages: readonly StepCost[];
  /** Most memory (MiB) that workerd had resident. */
  readonly peakMb: number;
}

/** Runs a whole ingest, timed from outside the isolate. */
export async function measureStages(worker: BenchWorker, steps: StepCosts): Promise<IngestStages> {
  steps.begin();
  await ingest(worker, {});
  await heardOf(steps, "verify");
  return { stages: steps.all, peakMb: workerdPeakMb() };
}

export function ingestTables(
  { stages, peakMb }: IngestStages,
  { locales, parts, inMemory, whole }: IngestParts,
): Table[] {
  const wallMs = sum(stages.map((stage) => stage.wallMs));
  const cpuMs = sum(stages.map((stage) => stage.cpuMs));
  return [
    {
      title: `Ingest of ${locales} locales, all of workerd. Peak memory: ${round(peakMb, 0)} MB resident, stores included.`,
      columns: ["stage", "steps", "wall ms", "CPU ms", "share of CPU"],
      rows: [
        ...stages.map((one) => [
          one.name,
          String(one.steps),
          round(one.wallMs, 0),
          round(one.cpuMs, 0),
          round(one.cpuMs / cpuMs, 2),
        ]),
        ["whole run", "", round(wallMs, 0), round(cpuMs, 0), "1.00"],
      ],
    },
    {
      title: "Of which, done again one by one without the stores, and a whole run without them",
      columns: ["part", "wall ms", "CPU ms", "share of the run's CPU"],
      rows: [
        ...parts.map((part) => [
          part.name,
          round(part.wallMs, 0),
          round(part.cpuMs, 0),
          round(part.cpuMs / cpuMs, 2),
        ]),
        [
          "a whole run, with stores in memory and without a coordinator",
          round(inMemory.wallMs, 0),
          round(inMemory.cpuMs, 0),
          round(inMemory.cpuMs / cpuMs, 2),
        ],
        [
          "not done: compress each body whole, nothing shared between locales",
          round(whole.wallMs, 0),
          round(whole.cpuMs, 0),
          round(whole.cpuMs / cpuMs, 2),
        ],
      ],
    },
  ];
}

/** Waits for the log's line of a step of this name: it comes later than what the API says. */
export async function heardOf(steps: StepCosts, step: string): Promise<void> {
  const deadline = Date.now() + LOG_DEADLINE_MS;
  while (!steps.all.some(({ name }) => name === step)) {
    if (Date.now() > deadline) throw new Error(`the log does not tell of ${step}`);
    await sleep(20);
  }
}

/** Queues a run and waits until it has succeeded. */
export async function ingest(worker: BenchWorker, body: object): Promise<RunAnswer> {
  const queued = (await worker.call("POST", "/admin/ingest/queue", body)) as { run: RunAnswer }; // our API
  for (;;) {
    const run = (await worker.call("GET", `/admin/ingest/runs/${queued.run.id}`)) as RunAnswer; // our API
    if (run.state === "failed") throw new Error(JSON.stringify(run.error));
    if (run.state === "succeeded") return run;
    await sleep(POLL_MS);
  }
}

/** A part of an ingest, by itself. */
interface PartCost extends Cost {
  readonly name: string;
}

/** What an ingest consists of. */
export interface IngestParts {
  /** How many are published. */
  readonly locales: number;
  readonly parts: readonly PartCost[];
  /** A whole run with stores in memory and without a coordinator. */
  readonly inMemory: Cost;
  /** What it would take to compress each body whole. */
  readonly whole: Cost;
}

/** Does the parts of an ingest one by one, timed from outside the isolate. */
export async function measureParts(worker: BenchWorker): Promise<IngestParts> {
  const locales = (await worker.health()).locales.map(({ locale }) => locale);
  const time = async (paths: readonly string[]) => {
    const [began, cpu] = [performance.now(), workerdCpuMs()];
    for (const path of paths) await worker.call("POST", `/phase/${path}`);
    return { wallMs: performance.now() - began, cpuMs: workerdCpuMs() - cpu };
  };
  const each = (phase: string) => locales.map((locale) => `${phase}?locale=${locale}`);
  const build = await time(["build"]);
  const common = await time(["compress-common"]);
  const encode = await time(each("encode-locale"));
  // Encodes as well, since there is nothing to compress otherwise.
  const compress = await time(each("compress-locale"));
  // Encodes and compresses as well, since there is nothing to prove otherwise.
  const prove = await time(each("encode-bodies"));
  const inMemory = await time([`whole-in-memory?locales=${locales.join(",")}`]);
  const parts: PartCost[] = [
    { name: "read, parse, build and encode the common part", ...build },
    { name: "encode and hash each locale", ...encode },
    { name: "compress the common part", ...common },
    { name: "compress each locale", ...without(compress, encode) },
    { name: "hash each body, and decode it again", ...without(prove, compress) },
  ];
  const some = locales.slice(0, WHOLE_LOCALES);
  const whole = await time(some.map((locale) => `compress-whole?locale=${locale}`));
  const share = locales.length / some.length;
  return {
    locales: locales.length,
    parts,
    inMemory,
    whole: without({ wallMs: whole.wallMs * share, cpuMs: whole.cpuMs * share }, encode),
  };
}

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

function without(all: Cost, part: Cost): Cost {
  return { wallMs: all.wallMs - part.wallMs, cpuMs: all.cpuMs - part.cpuMs };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
