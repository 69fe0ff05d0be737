/**
 * `npm run bench:checks`: how long the quick checks and the monitor's status take to answer, of an
 * installation with a published catalog and a backup.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { BenchWorker } from "./bench-worker.ts";
import { printTable } from "./report.ts";
import { median, round } from "./statistics.ts";

/** Requests of each kind, one after the other. */
const REQUESTS = Number(process.argv[2] ?? 100);
const POLL_MS = 50;
/** Over this time a summary is read anew. */
const MEMO_MS = 5_000;
/** Summaries that are read anew, since each wants a pause. */
const FRESH_SUMMARIES = 5;

const worker = await BenchWorker.start();
try {
  const { run } = await ask<{ run: { id: string } }>("/admin/ingest/queue", "POST");
  await succeeded(`/admin/ingest/runs/${run.id}`);
  const { job } = await ask<{ job: { chain: string[] } }>("/admin/backup/run", "POST");
  await succeeded(`/admin/backup/jobs/${job.chain.at(-1)}`);
  const rows = [
    await measure("/catalog/health"),
    await measure("/dashboard/summary"),
    await measure("/dashboard/summary", { name: "the same, read anew", pauseMs: MEMO_MS }),
    await measure("/admin/monitor/status"),
  ];
  const columns = ["check", "median, ms", "slowest, ms", "requests"];
  process.stdout.write(printTable({ title: "Quick checks", columns, rows }));
} finally {
  await worker.stop();
}

interface Measuring {
  readonly name: string;
  readonly pauseMs: number;
}

/** A row of the table. The first request, which opens what an isolate holds, is not counted. */
async function measure(path: string, { name, pauseMs }: Measuring = { name: path, pauseMs: 0 }) {
  await ask(path);
  const took: number[] = [];
  const requests = pauseMs === 0 ? REQUESTS : FRESH_SUMMARIES;
  while (took.length < requests) {
    await sleep(pauseMs);
    const began = performance.now();
    await ask(path);
    took.push(performance.now() - began);
  }
  return [name, round(median(took), 1), round(Math.max(...took), 1), String(requests)];
}

/** Waits for the end of a run or a job. */
async function succeeded(path: string): Promise<void> {
  for (;;) {
    const { state, error } = await ask<{ state: string; error: unknown }>(path);
    if (state === "failed") throw new Error(JSON.stringify(error));
    if (state === "succeeded") return;
    await sleep(POLL_MS);
  }
}

async function ask<T>(path: string, method = "GET"): Promise<T> {
  return (await worker.call(method, path)) as T; // our API
}
