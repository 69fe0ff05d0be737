import type { AirportSet, Manifest } from "../../src/parts/manifest.ts";
import { type IngestCheckpoint, FIRST_INGEST_CHECKPOINT } from "../../src/ingest/checkpoint.ts";
import type { RunContext, IngestStepResult } from "../../src/ingest/step.ts";
import { Pipeline } from "../../src/ingest/pipeline.ts";
import type { Run } from "../../src/schemas/run.ts";
import type { UpstreamFiles } from "../../src/schemas/run-report.ts";
import type { RunMode, Stage } from "../../src/schemas/run-words.ts";
import { type LedgerFiles, ledgerOf } from "../../src/ingest/ledger-files.ts";
import type { HoldLimits } from "../../src/ingest/accept-sources.ts";
import { replicate } from "../../src/coordinator/publishing.ts";
import { type CompressionInput, compressPart, type Effort } from "../../src/parts/codings.ts";
import type { Snapshot } from "../../src/sources/snapshot.ts";
import { embeddedUpstream, type Upstream } from "../../src/sources/upstream.ts";
import { memoryCatalogStore } from "./memory-catalog-store.ts";
import { memorySourceArchive } from "./memory-source-archive.ts";
import { NOTHING_HELD } from "./hold-limits.ts";
import { aSnapshot } from "./small-snapshot.ts";

/** Stores in memory and a coordinator's memory, around pipelines. */
export class PipelineWorld {
  readonly store = memoryCatalogStore();
  readonly archive = memorySourceArchive();
  /** The settings that a deploy may change. */
  locales: readonly string[];
  snapshot: Snapshot = aSnapshot();
  upstream: Upstream | undefined;
  source = "test";
  forced = false;
  airportSet: AirportSet = "all";
  effort: Effort = "fast";
  /** Compresses the shared parts. */
  compress = async (task: CompressionInput): Promise<Uint8Array> => compressPart(task);
  holdLimits: HoldLimits = NOTHING_HELD;
  time = Date.parse("2026-11-01T04:17:00.000Z");
  /** The ledger of the last run. */
  ledger: LedgerFiles | null = null;
  decisions: RunContext["decisions"] = [];
  /** The version recorded last. */
  current: Manifest | null = null;
  /** The versions recorded so far, newest first. */
  versions: readonly Manifest[] = [];
  /** The upstream files of the last success. */
  archived: UpstreamFiles = {};
  checkpoint: IngestCheckpoint = FIRST_INGEST_CHECKPOINT;
  /** The changed fields of the run. */
  run: Partial<Run> = {};
  /** Events of the log. */
  readonly logged: string[] = [];

  constructor(locales: readonly string[] = ["de", "en", "ja"]) {
    this.locales = locales;
  }

  /** A pipeline that holds nothing in memory yet. */
  newPipeline(): Pipeline {
    return new Pipeline({
      store: this.store,
      archive: this.archive,
      upstreams: { [this.source]: this.upstream ?? embeddedUpstream(this.snapshot) },
      snapshot: this.snapshot,
      locales: this.locales,
      defaultLocale: "en",
      airportSet: this.airportSet,
      holdLimits: this.holdLimits,
      effort: this.effort,
      compress: this.compress,
      now: () => this.time,
    });
  }

  /** The context of a step. */
  context(changes: Partial<RunContext> = {}): RunContext {
    return {
      mode: "incremental",
      forced: this.forced,
      source: this.source,
      current: this.current,
      retained: {
        versions: () => [...this.versions],
        findRetained: (wanted) => this.versions.find(({ generation }) => generation === wanted),
      },
      runId: "run",
      ledger: this.ledger,
      decisions: this.decisions,
      archived: this.archived,
      candidate: null,
      ...changes,
    };
  }

  /** Does one step and, if it does not throw, remembers its result. */
  async step(pipeline: Pipeline, mode: RunMode = "incremental"): Promise<IngestStepResult> {
    const result = await pipeline.step(this.checkpoint, this.context({ mode }));
    this.run = { ...this.run, ...result.patch };
    if (result.publish !== null) {
      const previous = this.current?.generation ?? null;
      const generation = (previous ?? 0) + 1;
      const published_at = new Date(this.time).toISOString();
      this.current = { ...result.publish, generation, published_at, previous };
      this.run = { ...this.run, generation_after: generation };
      await replicate(this.store, this.current);
      this.versions = [this.current, ...this.versions];
    }
    if (result.next !== null) this.checkpoint = result.next;
    else {
      this.archived = this.run.upstream ?? {};
      this.ledger = ledgerOf(this.checkpoint.sources);
    }
    return result;
  }

  /** Does a whole run, each step with the pipeline that `pipelineFor` gives. */
  async runToEnd(
    mode: RunMode = "incremental",
    pipelineFor: () => Pipeline = once(this.newPipeline()),
  ): Promise<IngestStepResult> {
    this.checkpoint = FIRST_INGEST_CHECKPOINT;
    this.run = {};
    return this.runOn(mode, pipelineFor);
  }

  /** Starts a run, and does its steps before those of a stage. */
  async runUpTo(stage: Stage): Promise<void> {
    this.checkpoint = FIRST_INGEST_CHECKPOINT;
    this.run = {};
    const pipeline = this.newPipeline();
    while (this.checkpoint.stage !== stage) await this.step(pipeline);
  }

  /** Does the rest of a run. */
  async runOn(
    mode: RunMode = "incremental",
    pipelineFor: () => Pipeline = once(this.newPipeline()),
  ): Promise<IngestStepResult> {
    for (;;) {
      const result = await this.step(pipelineFor(), mode);
      if (result.next === null) return result;
    }
  }
}

function once<T>(value: T): () => T {
  return () => value;
}
