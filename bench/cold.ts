import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { BenchWorker } from "./bench-worker.ts";
import { bundleModules, bundleWorker } from "./bundle.ts";
import type { Case } from "./cases.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { median, round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const STARTS = 5;
/** Isolates that `BenchWorker` has with the same bundle. */
const ISOLATES = 2;
const MIB = 2 ** 20;
/** A Worker that is as good as none, to tell the start of workerd from that of the service. */
const EMPTY_WORKER = convertV4MiniflareOptions({
  modules: true,
  script: "export default { fetch: () => new Response() }",
});

/** What a new isolate costs: its start, its first request, and the size of what it loads. */
export async function measureCold(worker: BenchWorker, one: Case): Promise<Table> {
  const starts: { startCpuMs: number; firstMs: number; secondMs: number }[] = [];
  for (let index = 0; index < STARTS; index++) {
    await worker.restart();
    const cpuMs = (workerdCpuMs() - (await emptyStartCpuMs())) / ISOLATES;
    const firstMs = await timed(() => ask(worker, one));
    const secondMs = await timed(() => ask(worker, one));
    starts.push({ startCpuMs: cpuMs, firstMs, secondMs });
  }
  const middle = (key: keyof (typeof starts)[number]) => median(starts.map((each) => each[key]));
  const { bytes, gzipBytes } = bundleSize();
  return {
    title: `A new isolate, medians of ${STARTS} starts, with the stores on this machine's disk`,
    columns: ["", "value"],
    rows: [
      ["bundle, MiB", round(bytes / MIB, 2)],
      ["bundle with gzip, MiB", round(gzipBytes / MIB, 2)],
      ["CPU of its start, beyond that of workerd itself, ms", round(middle("startCpuMs"), 0)],
      [`first request (${one.name}), ms`, round(middle("firstMs"), 1)],
      ["second request, ms", round(middle("secondMs"), 1)],
    ],
  };
}

async function ask({ port }: BenchWorker, one: Case): Promise<void> {
  const { status, body } = await send(port, one);
  if (status !== 200) throw new Error(`${status} ${body.toString()}`);
}

/** CPU time (ms) that workerd takes to start with next to nothing in it. */
async function emptyStartCpuMs(): Promise<number> {
  const before = workerdCpuMs();
  const miniflare = new Miniflare(EMPTY_WORKER);
  try {
    await miniflare.ready;
    return workerdCpuMs() - before;
  } finally {
    await miniflare.dispose();
  }
}

/** Of what a deploy would upload. */
function bundleSize(): { readonly bytes: number; readonly gzipBytes: number } {
  const folder = mkdtempSync(join(tmpdir(), "bench-bundle-"));
  try {
    bundleWorker("src/worker.ts", folder);
    const files = bundleModules(folder).map(({ path }) => readFileSync(path));
    return {
      bytes: files.reduce((sum, { length }) => sum + length, 0),
      gzipBytes: files.reduce((sum, file) => sum + gzipSync(file).length, 0),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
