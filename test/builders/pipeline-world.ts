import { CONTRACT_LIMITS, type ContractLimits } from "../../src/catalog/contract-limits.ts";
import type { Manifest } from "../../src/catalog/manifest.ts";
import {
  type Checkpoint,
  FIRST_CHECKPOINT,
  type RunContext,
  type StepResult,
} from "../../src/ingest/checkpoint.ts";
import { Pipeline } from "../../src/ingest/pipeline.ts";
import type { Run, RunMode, UpstreamFiles } from "../../src/ingest/run.ts";
import type { Snapshot } from "../../src/sources/snapshot.ts";
import { embeddedUpstream, type Upstream } from "../../src/sources/upstream.ts";
import { MemoryCatalogStore } from "./memory-catalog-store.ts";
import { MemorySourceArchive } from "./memory-source-archive.ts";
import { aSnapshot } from "./small-snapshot.ts";

/** Stores in memory, and what a coordinator would remember, around pipelines. */
export class PipelineWorld {
  readonly store = new MemoryCatalogStore();
  readonly archive = new MemorySourceArchive();
  /** What a deploy may change. */
  locales: readonly string[];
  snapshot: Snapshot = aSnapshot();
  upstream: Upstream | undefined;
  forced = false;
  limits: ContractLimits = CONTRACT_LIMITS;
  /** The version recorded last. */
  current: Manifest | null = null;
  /** The upstream files of the last success. */
  archived: UpstreamFiles = {};
  checkpoint: Checkpoint = FIRST_CHECKPOINT;
  /** What has changed in the run. */
  run: Partial<Run> = {};
  /** Blobs that were announced, in order. */
  readonly noted: string[] = [];

  constructor(locales: readonly string[] = ["de", "en", "ja"]) {
    this.locales = locales;
  }

  /** A pipeline that holds nothing in memory yet. */
  newPipeline(): Pipeline {
    return new Pipeline({
      store: this.store,
      archive: this.archive,
      upstreams: { test: this.upstream ?? embeddedUpstream(this.snapshot) },
      snapshot: this.snapshot,
      locales: this.locales,
      limits: this.limits,
      now: () => Date.parse("2026-11-01T04:17:00.000Z"),
    });
  }

  /** What a step is told. */
  context(changes: Partial<RunContext> = {}): RunContext {
    return {
      mode: "incremental",
      forced: this.forced,
      source: "test",
      current: this.current,
      archived: this.archived,
      candidate: null,
      noteBlobs: (sha256s) => void this.noted.push(...sha256s),
      ...changes,
    };
  }

  /** Does one step and, if it does not throw, remembers what it came to. */
  async step(pipeline: Pipeline, mode: RunMode = "incremental"): Promise<StepResult> {
    const result = await pipeline.step(this.checkpoint, this.context({ mode }));
    this.run = { ...this.run, ...result.patch };
    if (result.publish !== null) this.current = result.publish;
    if (result.next !== null) this.checkpoint = result.next;
    else this.archived = this.run.upstream ?? {};
    return result;
  }

  /** Does a whole run, each step with the pipeline that `pipelineFor` gives. */
  async runToEnd(
    mode: RunMode = "incremental",
    pipelineFor: () => Pipeline = once(this.newPipeline()),
  ): Promise<StepResult> {
    this.checkpoint = FIRST_CHECKPOINT;
    this.run = {};
    for (;;) {
      const result = await this.step(pipelineFor(), mode);
      if (result.next === null) return result;
    }
  }
}

function once<T>(value: T): () => T {
  return () => value;
}
