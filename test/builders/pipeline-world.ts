import type { Manifest } from "../../src/catalog/manifest.ts";
import {
  type Checkpoint,
  FIRST_CHECKPOINT,
  Pipeline,
  type StepResult,
} from "../../src/ingest/pipeline.ts";
import type { Run, RunMode } from "../../src/ingest/run.ts";
import type { Snapshot } from "../../src/sources/snapshot.ts";
import { embeddedUpstream, type Upstream } from "../../src/sources/upstream.ts";
import { MemoryCatalogStore } from "./memory-catalog-store.ts";
import { MemorySourceArchive } from "./memory-source-archive.ts";
import { aSnapshot } from "./small-snapshot.ts";

/** Stores in memory, and what a coordinator would remember, around pipelines. */
export class PipelineWorld {
  readonly store = new MemoryCatalogStore();
  readonly archive = new MemorySourceArchive();
  readonly locales: readonly string[];
  snapshot: Snapshot = aSnapshot();
  upstream: Upstream | undefined;
  /** The version recorded last. */
  current: Manifest | null = null;
  checkpoint: Checkpoint = FIRST_CHECKPOINT;
  /** What has changed in the run. */
  run: Partial<Run> = {};

  constructor(locales: readonly string[] = ["de", "en", "ja"]) {
    this.locales = locales;
  }

  /** A pipeline that holds nothing in memory yet. */
  newPipeline(): Pipeline {
    return new Pipeline({
      store: this.store,
      archive: this.archive,
      upstream: this.upstream ?? embeddedUpstream(this.snapshot),
      snapshot: this.snapshot,
      locales: this.locales,
      now: () => Date.parse("2026-11-01T04:17:00.000Z"),
    });
  }

  /** Does one step and, if it does not throw, remembers what it came to. */
  async step(pipeline: Pipeline, mode: RunMode = "incremental"): Promise<StepResult> {
    const result = await pipeline.step(this.checkpoint, { mode, current: this.current });
    this.run = { ...this.run, ...result.patch };
    if (result.publish !== null) this.current = result.publish;
    if (result.next !== null) this.checkpoint = result.next;
    return result;
  }

  /** Does a whole run, each step with the pipeline that `pipelineFor` gives. */
  async runToEnd(
    mode: RunMode = "incremental",
    pipelineFor: () => Pipeline = once(this.newPipeline()),
  ): Promise<StepResult> {
    this.checkpoint = FIRST_CHECKPOINT;
    for (;;) {
      const result = await this.step(pipelineFor(), mode);
      if (result.next === null) return result;
    }
  }
}

function once<T>(value: T): () => T {
  return () => value;
}
