/**
 * The part of `bench/growth.ts` that runs in an isolate of its own: ingests a world through the
 * pipeline that the Worker has, with stores on disk, and tells of each step.
 */
import { setImmediate } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { CONTRACT_LIMITS, type ContractLimits } from "../src/catalog/contract-limits.ts";
import type { Manifest } from "../src/catalog/manifest.ts";
import { type Checkpoint, FIRST_CHECKPOINT, type StepResult } from "../src/ingest/checkpoint.ts";
import { nextCommon } from "../src/ingest/common-progress.ts";
import { GuardsTripped } from "../src/ingest/faults.ts";
import { Pipeline } from "../src/ingest/pipeline.ts";
import type { RunMode, Stage } from "../src/ingest/run.ts";
import { embeddedUpstream } from "../src/sources/upstream.ts";
import { DiskCatalogStore, diskArchive } from "./disk-stores.ts";
import { readWorld } from "./growth-world.ts";

/** What the isolate is given. */
export interface GrowthOrder {
  readonly world: string;
  readonly stores: string;
  readonly locales: readonly string[];
  /**
   * Whether to collect garbage before each call to a store, and again and again while bodies are
   * encoded: the limit of a heap does not count the buffers outside of it.
   */
  readonly collects: boolean;
}

/** What the isolate tells, in order. */
export type GrowthMessage =
  | { readonly tells: "begin"; readonly run: GrowthRun; readonly stage: Stage; part: string | null }
  | { readonly tells: "end"; readonly cost: StepCost }
  | { readonly tells: "refused"; readonly message: string }
  | { readonly tells: "done"; readonly facts: GrowthFacts };

/** What a step came to. */
export interface StepCost {
  readonly wallMs: number;
  /** CPU time of the isolate's own thread. */
  readonly ownMs: number;
  /** CPU time of other threads: zlib's streams, and V8's. */
  readonly otherMs: number;
  /** What the isolate holds afterwards. */
  readonly afterMb: number;
}

/**
 * A run under the contract's limits as far as its guards, one that goes on beyond them, and a dry
 * one that is compared with what it published.
 */
export type GrowthRun = "contract" | "publish" | "compare";

export interface GrowthFacts {
  readonly airports: number;
  readonly entities: number;
  /** Length of the longest message. */
  readonly messageBytes: number;
  /** What the run that compares found to have changed. */
  readonly changes: number;
}

const COLLECT_MS = 200;

/** There are too few IATA codes of three letters for ten worlds. */
const LIMITS: ContractLimits = { ...CONTRACT_LIMITS, iata: /^[A-Z]{3,4}$/ };

const { world, stores, locales, collects } = workerData as GrowthOrder; // growth.ts is who starts it
const snapshot = readWorld(world, locales);
let current: Manifest | null = null;

function newPipeline(limits: ContractLimits): Pipeline {
  return new Pipeline({
    store: new DiskCatalogStore(stores, collects ? collect : undefined),
    archive: diskArchive(stores),
    upstreams: { world: embeddedUpstream(snapshot) },
    snapshot,
    locales,
    limits,
    now: Date.now,
  });
}

function tell(message: GrowthMessage): void {
  // oxlint-disable-next-line require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(message);
}

/** Does a run, or its steps up to a stage, and gives the last result. */
async function run(
  name: GrowthRun,
  { mode, limits, until }: { mode: RunMode; limits: ContractLimits; until?: Stage },
): Promise<StepResult> {
  const pipeline = newPipeline(limits);
  let checkpoint = FIRST_CHECKPOINT;
  for (;;) {
    const { stage } = checkpoint;
    tell({ tells: "begin", run: name, stage, part: partOf(checkpoint) });
    const collecting =
      collects && stage === "encode" ? setInterval(collect, COLLECT_MS) : undefined;
    const began = [performance.now(), cpuMs(), ownCpuMs()] as const;
    const result = await pipeline.step(checkpoint, {
      mode,
      forced: false,
      source: "world",
      current,
      archived: {},
      noteBlobs: () => undefined,
    });
    clearInterval(collecting);
    const wallMs = performance.now() - began[0];
    const ownMs = ownCpuMs() - began[2];
    const otherMs = Math.max(0, cpuMs() - began[1] - ownMs);
    // What buffers took is given back after the collection only.
    collect();
    await setImmediate();
    collect();
    tell({ tells: "end", cost: { wallMs, ownMs, otherMs, afterMb: usedMb() } });
    current = result.publish ?? current;
    if (result.next === null || stage === until) return result;
    checkpoint = result.next;
  }
}

/** Which part of the encode stage comes next. */
function partOf(checkpoint: Checkpoint): string | null {
  if (checkpoint.stage !== "encode") return null;
  const next = nextCommon(checkpoint);
  if (next === undefined) return "locales";
  return next.unit.coding === "identity" ? "common part" : "compression of it";
}

function collect(): void {
  global.gc?.();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function ownCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function usedMb(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return (used_heap_size + external_memory) / 2 ** 20;
}

try {
  await run("contract", { mode: "incremental", limits: LIMITS, until: "guard" });
} catch (error) {
  if (!(error instanceof GuardsTripped)) throw error;
  tell({ tells: "refused", message: error.message });
}
const beyond = { ...LIMITS, messageMaxBytes: Infinity };
await run("publish", { mode: "incremental", limits: beyond });
const { patch } = await run("compare", { mode: "dry_run", limits: beyond });
const published = current as Manifest | null; // what the closure of `run` assigned
if (published === null) throw new Error("nothing was published");
const bodies = Object.values(published.locales);
tell({
  tells: "done",
  facts: {
    airports: published.counts.airports,
    entities: Object.values(published.counts).reduce((sum, count) => sum + count, 0),
    messageBytes: Math.max(...bodies.map(({ bytes }) => bytes)),
    changes: Object.values(patch.counts ?? {}).reduce(
      (sum, { added, changed, removed }) => sum + added + changed + removed,
      0,
    ),
  },
});
