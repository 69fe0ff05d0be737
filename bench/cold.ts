import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { composeBody } from "../src/parts/compose.ts";
import { openManifest } from "../src/parts/stored-manifest.ts";
import { blobKey, MANIFEST_KEY } from "../src/storage/keys.ts";
import { benchBindings, type BenchWorker } from "./bench-worker.ts";
import { bundleModules, bundleWorker } from "./bundle.ts";
import type { Case } from "./cases.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { median, round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const STARTS = 10;
const NAME = "cold";
const MIB = 2 ** 20;
/** After an answer, workerd still works for a moment. */
const SETTLE_MS = 50;

/** The blobs of the first answer by their keys in KV, the manifest first. */
type Stored = ReadonlyMap<string, ArrayBuffer>;

/** CPU (ms) of workerd: of a start without bindings, and of requests after one with all of them. */
interface Start {
  readonly startMs: number;
  readonly firstMs: number;
  readonly secondMs: number;
}

/** The cost of a new isolate, compared with Workers that do less: its start, and its first requests. */
export async function measureCold(worker: Pick<BenchWorker, "catalog">, one: Case): Promise<Table> {
  const stored = await readStored(worker);
  const folder = mkdtempSync(join(tmpdir(), "bench-cold-"));
  try {
    const bundles = makeBundles(folder, stored);
    const starts = await startInTurn([...bundles.values()], {
      state: join(folder, "state"),
      stored,
      one,
    });
    // Simulators of bindings would take more CPU than the Worker does. That of KV starts with its first
    // read, so another Worker has just read from it.
    const manifestKb = (stored.get(MANIFEST_KEY)?.byteLength ?? NaN) / 1000;
    return {
      title: `A new isolate, medians of ${STARTS} starts in turn, in CPU of all of workerd. The start is that of a process without bindings; the requests read KV from this machine's disk. The request is ${one.name}, the manifest has ${round(manifestKb, 0)} kB`,
      columns: [
        "Worker",
        "bundle, MiB",
        "with gzip, MiB",
        "start beyond the first row's, ms",
        "first request, ms",
        "second, ms",
      ],
      rows: [...bundles].map(([name, bundle]) => rowOf({ name, bundle, starts })),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readStored(worker: Pick<BenchWorker, "catalog">): Promise<Stored> {
  const kv = await worker.catalog();
  const read = async (key: string): Promise<[string, ArrayBuffer]> => {
    const value = await kv.get(key, "arrayBuffer");
    if (value === null) throw new Error(`KV lacks ${key}`);
    return [key, value];
  };
  const manifest = await read(MANIFEST_KEY);
  const opened = await openManifest(new Uint8Array(manifest[1]));
  if (!opened.ok) throw new Error(opened.problem);
  const wanted = { locale: "en", representation: "proto", coding: "br" } as const;
  const { pieces = [] } = composeBody(opened.manifest, wanted) ?? {};
  const keys = pieces.flatMap((piece) => ("sha256" in piece ? [blobKey(piece.sha256)] : []));
  return new Map([manifest, ...(await Promise.all(keys.map(read)))]);
}

/** Makes the folders of the Workers that are started, the empty one first. */
function makeBundles(folder: string, stored: Stored): ReadonlyMap<string, string> {
  const bundle = (name: string, make: (path: string) => void): string => {
    const path = join(folder, name);
    mkdirSync(path);
    make(path);
    return path;
  };
  const written = (code: string) => (path: string) => writeFileSync(join(path, "worker.js"), code);
  const bundled = (entry: string) => (path: string) => bundleWorker(entry, path);
  return new Map([
    ["empty", bundle("empty", written(withClasses("fetch: () => new Response()")))],
    ["only reads from KV and sends", bundle("reader", written(readerOf([...stored.keys()])))],
    [
      "and verifies, parses and streams",
      bundle("verifier", written(verifierOf([...stored.keys()]))),
    ],
    ["the service", bundle("service", bundled("src/worker/worker.ts"))],
    ["Connect's router alone", bundle("stock", bundled("bench/stock-worker.ts"))],
  ]);
}

/** A Worker with the classes that the bindings name. */
function withClasses(handlers: string): string {
  return `
    import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
    export class AlertMonitor extends DurableObject {}
    export class IngestCoordinator extends DurableObject {}
    export class PartCompressor extends WorkerEntrypoint {}
    export default { ${handlers} };
  `;
}

/** A Worker that reads the first key, then the others, as the service does, and sends these. */
function readerOf([manifest, ...blobs]: readonly string[]): string {
  return withClasses(`
    async fetch(request, { CATALOG }) {
      const read = (key) => CATALOG.get(key, "arrayBuffer");
      await read(${JSON.stringify(manifest)});
      return new Response(new Blob(await Promise.all(${JSON.stringify(blobs)}.map(read))));
    }
  `);
}

/** As `readerOf`, but hashes all, parses the manifest, and streams what it sends. */
function verifierOf([manifest, ...blobs]: readonly string[]): string {
  return withClasses(`
    async fetch(request, { CATALOG }) {
      const read = async (key) => {
        const bytes = await CATALOG.get(key, "arrayBuffer");
        await crypto.subtle.digest("SHA-256", bytes);
        return bytes;
      };
      const text = new Uint8Array(await read(${JSON.stringify(manifest)}));
      JSON.parse(new TextDecoder().decode(text.subarray(0, text.lastIndexOf(10))));
      const parts = (await Promise.all(${JSON.stringify(blobs)}.map(read))).map((part) => new Blob([part]));
      const size = parts.reduce((sum, part) => sum + part.size, 0);
      const { readable, writable } = new FixedLengthStream(size);
      const send = async () => {
        for (const part of parts) await part.stream().pipeTo(writable, { preventClose: true });
        await writable.close();
      };
      void send();
      return new Response(readable);
    }
  `);
}

interface Measured {
  readonly state: string;
  readonly stored: Stored;
  readonly one: Case;
}

/** Starts workerd with each bundle in turn: without bindings, and again with the service's. */
async function startInTurn(
  bundles: readonly string[],
  measured: Measured,
): Promise<ReadonlyMap<string, readonly Start[]>> {
  const starts = new Map(bundles.map((bundle): [string, Start[]] => [bundle, []]));
  await fill(bundles[0] ?? "", measured);
  for (let turn = 0; turn < STARTS; turn++)
    for (const [bundle, done] of starts)
      done.push({
        startMs: await measureStart(bundle),
        ...(await measureRequests(bundle, measured)),
      });
  return starts;
}

/** Puts the blobs into KV. */
async function fill(bundle: string, { state, stored }: Measured): Promise<void> {
  const miniflare = open(bundle, state);
  try {
    const kv = await miniflare.getKVNamespace("CATALOG", NAME);
    for (const [key, value] of stored) await kv.put(key, value);
  } finally {
    await miniflare.dispose();
  }
}

async function measureStart(bundle: string): Promise<number> {
  const { rootPath, modulesRoot, modules, compatibilityDate, compatibilityFlags } =
    benchBindings(bundle);
  const code = { rootPath, modulesRoot, modules, compatibilityDate, compatibilityFlags };
  const before = workerdCpuMs();
  const miniflare = new Miniflare(convertV4MiniflareOptions({ name: NAME, ...code }));
  try {
    await miniflare.ready;
    await sleep(SETTLE_MS);
    return workerdCpuMs() - before;
  } finally {
    await miniflare.dispose();
  }
}

async function measureRequests(
  bundle: string,
  { state, stored, one }: Measured,
): Promise<Pick<Start, "firstMs" | "secondMs">> {
  const miniflare = open(bundle, state);
  try {
    const kv = await miniflare.getKVNamespace("CATALOG", NAME);
    for (const key of stored.keys()) await kv.get(key, "arrayBuffer");
    const port = Number((await miniflare.unsafeGetDirectURL(NAME)).port);
    const firstMs = await cpuMsOf(() => ask(port, one));
    const secondMs = await cpuMsOf(() => ask(port, one));
    return { firstMs, secondMs };
  } finally {
    await miniflare.dispose();
  }
}

function open(bundle: string, state: string): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      name: NAME,
      ...benchBindings(bundle),
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      resourcePersistencePath: state,
    }),
  );
}

async function ask(port: number, one: Case): Promise<void> {
  const { status, body } = await send(port, one);
  if (status !== 200) throw new Error(`${status} ${body.toString()}`);
}

/** CPU time (ms) of all of workerd until it has finished some work. */
async function cpuMsOf(work: () => Promise<void>): Promise<number> {
  await sleep(SETTLE_MS);
  const before = workerdCpuMs();
  await work();
  await sleep(SETTLE_MS);
  return workerdCpuMs() - before;
}

interface Measurement {
  readonly name: string;
  readonly bundle: string;
  /** By bundle, the empty Worker's first. */
  readonly starts: ReadonlyMap<string, readonly Start[]>;
}

function rowOf({ name, bundle, starts }: Measurement): readonly string[] {
  const [empty = []] = starts.values();
  const own = starts.get(bundle) ?? [];
  const medianOf = (measured: readonly Start[], part: keyof Start) =>
    median(measured.map((start) => start[part]));
  const files = bundleModules(bundle).map(({ path }) => readFileSync(path));
  return [
    name,
    round(sizeOf(files), 2),
    round(sizeOf(files.map((file) => gzipSync(file))), 2),
    round(medianOf(own, "startMs") - medianOf(empty, "startMs"), 0),
    round(medianOf(own, "firstMs"), 1),
    round(medianOf(own, "secondMs"), 1),
  ];
}

/** MiB that a deploy would upload. */
function sizeOf(files: readonly Uint8Array[]): number {
  return files.reduce((sum, { length }) => sum + length, 0) / MIB;
}
