import { setTimeout as sleep } from "node:timers/promises";
import type { BenchWorker } from "./bench-worker.ts";
import type { Table } from "./report.ts";
import { round } from "./statistics.ts";
import type { StepCost, StepCosts } from "./step-costs.ts";
import { workerdPeakMb } from "./workerd-process.ts";

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
/** How long the last line of the log may take to arrive. */
const LOG_DEADLINE_MS = 5_000;

/** The costs of a whole ingest, with its stores. */
export interface IngestStages {
  readonly stages: readonly StepCost[];
  /** Maximum memory (MiB) that workerd had resident. */
  readonly peakMb: number;
}

/** Runs a whole ingest, timed from outside the isolate. */
export async function measureStages(worker: BenchWorker, steps: StepCosts): Promise<IngestStages> {
  steps.start();
  await ingest(worker, {});
  await waitForStep(steps, "verify");
  return { stages: steps.all, peakMb: workerdPeakMb() };
}

export function ingestTable({ stages, peakMb }: IngestStages, locales: number): Table {
  const wallMs = sum(stages.map((stage) => stage.wallMs));
  const cpuMs = sum(stages.map((stage) => stage.cpuMs));
  return {
    title: `Ingest of ${locales} locales, all of workerd. Peak memory: ${round(peakMb, 0)} MB resident, stores included`,
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
  };
}

/** Waits for the log line of a step, which comes later than the API's answer. */
export async function waitForStep(steps: StepCosts, step: string): Promise<void> {
  const deadline = Date.now() + LOG_DEADLINE_MS;
  while (!steps.all.some(({ name }) => name === step)) {
    if (Date.now() > deadline) throw new Error(`the log does not mention ${step}`);
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
