import { setTimeout as sleep } from "node:timers/promises";
import type { BenchWorker } from "./bench-worker.ts";
import type { Table } from "./report.ts";
import { round } from "./statistics.ts";
import { workerdPeakMb } from "./workerd-process.ts";

interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly stage: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly progress: { readonly total: number };
  readonly error: unknown;
}

const POLL_MS = 20;

/** Runs a whole ingest, then its parts one by one, timed from outside the isolate. */
export async function measureIngest(worker: BenchWorker): Promise<Table[]> {
  const run = await ingest(worker, {});
  const peakMb = workerdPeakMb();
  const parts = await measureParts(worker);
  const wall = Date.parse(run.finished_at) - Date.parse(run.started_at);
  const cpu = parts.reduce((sum, [, ms]) => sum + ms, 0);
  const compression = parts.filter(([name]) => name.startsWith("compress"));
  const compressing = compression.reduce((sum, [, ms]) => sum + ms, 0);
  return [
    {
      title: "Ingest of the default locales",
      columns: ["whole run", "value"],
      rows: [
        ["wall, s", round(wall / 1000, 1)],
        ["peak memory of workerd, MB", round(peakMb, 0)],
        ["compression's share of the parts below", round(compressing / cpu, 2)],
      ],
    },
    {
      title: "Parts of an ingest without the stores",
      columns: ["part", "ms", "share"],
      rows: parts.map(([name, ms]) => [name, round(ms, 0), round(ms / cpu, 2)]),
    },
  ];
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

async function measureParts(worker: BenchWorker): Promise<[string, number][]> {
  const health = (await worker.call("GET", "/catalog/health")) as {
    locales: { locale: string }[];
  }; // our API
  const locales = health.locales.map(({ locale }) => locale);
  const time = async (paths: readonly string[]) => {
    const began = performance.now();
    for (const path of paths) await worker.call("POST", `/phase/${path}`);
    return performance.now() - began;
  };
  const each = (phase: string) => locales.map((locale) => `${phase}?locale=${locale}`);
  const build = await time(["build"]);
  const encode = await time(each("encode-locale"));
  const common = await time(["compress-common"]);
  const local = await time(each("compress-locale"));
  return [
    ["read, parse, build and encode the common part", build],
    ["encode and hash each locale", encode],
    ["compress the common part", common],
    ["compress and prove each locale", local - encode],
  ];
}
