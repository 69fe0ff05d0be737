/**
 * `npm run bench:backup`: time and memory of backing up, verifying and restoring an installation
 * with a year of history. The rows of the history are copies of a real run's, with other ids. With
 * `--memory` V8 collects garbage all the time, which takes time of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { BenchWorker } from "./bench-worker.ts";
import { HeapTrace, TRACED } from "./heap-trace.ts";
import { printTable } from "./report.ts";
import { round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const { values, positionals } = parseArgs({
  options: { memory: { type: "boolean", default: false } },
  allowPositionals: true,
});
/** Runs of a year: one about every five minutes. */
const RUNS = Number(positionals[0] ?? 100_000);
/** Rows that one statement makes. */
const ROWS_AT_A_TIME = 10_000;
const POLL_MS = 50;

interface JobAnswer {
  readonly id: string;
  readonly backup_id: string;
  readonly chain: readonly string[];
  readonly state: string;
  readonly error: unknown;
}

interface Measured {
  readonly backup_id: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Most memory (MiB) that the isolate held; 0 if it is not traced. */
  readonly heldMb: number;
}

const memory = new HeapTrace();
let jobsEnded = 0;
const worker = await BenchWorker.start({
  v8Flags: values.memory ? TRACED : "",
  hear(line) {
    memory.hear(line);
    if (line.includes('"backup_ended"')) jobsEnded++;
  },
});
try {
  await ingest();
  await fillHistory();
  const first = await measure("/admin/backup/run");
  const second = await measure("/admin/backup/run");
  const verified = await measure(`/admin/backup/${first.backup_id}/verify`);
  const restored = await measure(`/admin/backup/${first.backup_id}/restore`);
  const backup = await call("GET", `/admin/backup/${first.backup_id}`);
  const row = (name: string, { seconds, cpuSeconds, heldMb }: Measured) => [
    name,
    round(seconds, 1),
    round(cpuSeconds, 1),
    ...(values.memory ? [round(heldMb, 0)] : []),
  ];
  process.stdout.write(
    printTable({
      title: `Backups of ${RUNS} ingest runs: ${JSON.stringify(sizes(backup))}`,
      columns: ["job", "wall, s", "CPU, s", ...(values.memory ? ["held at most, MB"] : [])],
      rows: [
        row("first backup, verified", first),
        row("second backup, verified", second),
        row("verify", verified),
        row("restore, with a backup of the present", restored),
      ],
    }),
  );
} finally {
  await worker.stop();
}

/** Publishes the default catalog. */
async function ingest(): Promise<void> {
  const { run } = (await call("POST", "/admin/ingest/queue")) as { run: { id: string } }; // our API
  for (;;) {
    const { state, error } = (await call("GET", `/admin/ingest/runs/${run.id}`)) as JobAnswer; // our API
    if (state === "failed") throw new Error(JSON.stringify(error));
    if (state === "succeeded") break;
    await sleep(POLL_MS);
  }
}

/** Copies the row of the run until there are enough. */
async function fillHistory(): Promise<void> {
  const database = await worker.database();
  const { results } = await database.prepare("PRAGMA table_info(ingest_runs)").all();
  const columns = results.map((column) => String(column["name"])).filter((name) => name !== "id");
  const list = columns.map((name) => `"${name}"`).join(", ");
  while ((await countRuns()) === 0) await sleep(POLL_MS);
  for (let from = 1; from < RUNS; from += ROWS_AT_A_TIME) {
    const to = Math.min(RUNS, from + ROWS_AT_A_TIME);
    await database
      .prepare(
        `INSERT INTO ingest_runs (id, ${list})
         WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
         SELECT printf('019aa3c0-0000-7000-8000-%012x', i), ${list}
         FROM n, (SELECT ${list} FROM ingest_runs LIMIT 1)`,
      )
      .bind(from, to)
      .run();
  }
  const rows = await countRuns();
  if (rows !== RUNS) throw new Error(`${rows} rows instead of ${RUNS}`);
}

async function countRuns(): Promise<number> {
  const database = await worker.database();
  const found = await database.prepare("SELECT COUNT(*) AS rows FROM ingest_runs").first("rows");
  return Number(found);
}

/** Queues jobs and waits for their end. */
async function measure(path: string): Promise<Measured> {
  const began = performance.now();
  const cpuBefore = workerdCpuMs();
  const { job } = (await call("POST", path)) as { job: JobAnswer }; // our API
  memory.takePeakMb();
  const endedBefore = jobsEnded;
  for (;;) {
    const seen = (await call("GET", `/admin/backup/jobs/${job.chain.at(-1)}`)) as JobAnswer; // our API
    if (seen.state === "failed" || seen.state === "cancelled")
      throw new Error(`${path}: ${JSON.stringify(seen.error)}`);
    // The log comes later than the answer, and what V8 says of memory comes with it.
    if (seen.state === "succeeded" && jobsEnded >= endedBefore + job.chain.length) break;
    await sleep(POLL_MS);
  }
  return {
    backup_id: job.backup_id,
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: (workerdCpuMs() - cpuBefore) / 1000,
    heldMb: memory.takePeakMb(),
  };
}

function sizes(backup: unknown) {
  const { size_bytes, parts, objects } = backup as { [name: string]: unknown }; // our API
  return { size_bytes, parts, objects };
}

function call(method: string, path: string): Promise<unknown> {
  return worker.call(method, path);
}
