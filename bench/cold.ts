import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { findBody } from "../src/catalog/find-body.ts";
import { openManifest } from "../src/catalog/manifest.ts";
import { blobKey, MANIFEST_KEY } from "../src/storage/keys.ts";
import { benchBindings, type BenchWorker } from "./bench-worker.ts";
import { bundleModules, bundleWorker } from "./bundle.ts";
import type { Case } from "./cases.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { median, round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const STARTS = 5;
const MIB = 2 ** 20;

/** What is started in turn, with the same bindings. */
const EMPTY = "an empty Worker";
const SERVICE = "the service";
const STOCK = "Connect's router alone";
const EMPTY_CODE = `
  import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
  export class AlertMonitor extends DurableObject {}
  export class IngestCoordinator extends DurableObject {}
  export class SegmentCompressor extends WorkerEntrypoint {}
  export default { fetch: () => new Response() };
`;

/** What a new isolate costs: its start, its first request, and the size of what it loads. */
export async function measureCold(worker: BenchWorker, one: Case): Promise<Table> {
  const stored = await storedRequest(worker, one);
  const requests: { storedMs: number; firstMs: number; secondMs: number }[] = [];
  for (let index = 0; index < STARTS; index++) {
    await worker.restart();
    const storedMs = await timed(() => ask(worker, stored));
    await worker.restart();
    const firstMs = await timed(() => ask(worker, one));
    const secondMs = await timed(() => ask(worker, one));
    requests.push({ storedMs, firstMs, secondMs });
  }
  const folder = mkdtempSync(join(tmpdir(), "bench-cold-"));
  try {
    const bundles = new Map([
      [EMPTY, join(folder, "empty")],
      [SERVICE, join(folder, "service")],
      [STOCK, join(folder, "stock")],
    ]);
    for (const path of bundles.values()) mkdirSync(path);
    writeFileSync(join(folder, "empty", "worker.js"), EMPTY_CODE);
    bundleWorker("src/worker.ts", join(folder, "service"));
    bundleWorker("bench/stock-worker.ts", join(folder, "stock"));
    const starts = await measureStarts(bundles);
    const beyondEmpty = (name: string) =>
      round(
        median((starts.get(name) ?? []).map((ms, turn) => ms - (starts.get(EMPTY)?.[turn] ?? NaN))),
        0,
      );
    const { bytes, gzipBytes } = sizeOf(join(folder, "service"));
    return {
      title: `A new isolate, medians of ${STARTS} starts, with the stores on this machine's disk`,
      columns: ["", "value"],
      rows: [
        ["bundle, MiB", round(bytes / MIB, 2)],
        ["bundle with gzip, MiB", round(gzipBytes / MIB, 2)],
        ["CPU of its start, beyond that of an empty Worker, ms", beyondEmpty(SERVICE)],
        [`the same of ${STOCK}, ms`, beyondEmpty(STOCK)],
        [
          "first request, if it only reads what this one needs from KV and sends it, ms",
          round(median(requests.map(({ storedMs }) => storedMs)), 1),
        ],
        [
          `first request (${one.name}), ms`,
          round(median(requests.map(({ firstMs }) => firstMs)), 1),
        ],
        ["second request, ms", round(median(requests.map(({ secondMs }) => secondMs)), 1)],
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks for what a first answer is made of, as it is stored. */
async function storedRequest(worker: BenchWorker, one: Case): Promise<Case> {
  const kv = await worker.catalog();
  const text = await kv.get(MANIFEST_KEY, "arrayBuffer");
  const opened = await openManifest(new Uint8Array(text ?? new ArrayBuffer()));
  if (!opened.ok) throw new Error(opened.problem);
  const wanted = { locale: "en", representation: "proto", coding: "br" } as const;
  const { segments = [] } = findBody(opened.manifest, wanted) ?? {};
  const blobs = segments.flatMap((segment) => ("blob" in segment ? [blobKey(segment.blob)] : []));
  const query = new URLSearchParams([MANIFEST_KEY, ...blobs].map((key) => ["key", key]));
  return { ...one, method: "GET", path: `/stored?${query.toString()}`, body: new Uint8Array() };
}

async function ask({ port }: BenchWorker, one: Case): Promise<void> {
  const { status, body } = await send(port, one);
  if (status !== 200) throw new Error(`${status} ${body.toString()}`);
}

/** CPU times (ms) of starts of workerd with each bundle, in turn, with the service's bindings. */
async function measureStarts(
  bundles: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const starts = new Map([...bundles.keys()].map((name): [string, number[]] => [name, []]));
  for (let turn = 0; turn < STARTS; turn++)
    for (const [name, path] of bundles) starts.get(name)?.push(await startCpuMs(path));
  return starts;
}

async function startCpuMs(folder: string): Promise<number> {
  const before = workerdCpuMs();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ name: "cold", ...benchBindings(folder) }),
  );
  try {
    await miniflare.ready;
    return workerdCpuMs() - before;
  } finally {
    await miniflare.dispose();
  }
}

/** The size of what a deploy would upload. */
function sizeOf(folder: string): { readonly bytes: number; readonly gzipBytes: number } {
  const files = bundleModules(folder).map(({ path }) => readFileSync(path));
  return {
    bytes: files.reduce((sum, { length }) => sum + length, 0),
    gzipBytes: files.reduce((sum, file) => sum + gzipSync(file).length, 0),
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
