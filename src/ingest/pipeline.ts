import { sha256Hex } from "../catalog/hash.ts";
import { type LocaleEntry, type Manifest, manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import { snapshotOpener } from "../sources/snapshot.ts";
import type { Upstream } from "../sources/upstream.ts";
import { type Blob, commonUnits, encodeBodies, encodeCommonSegment } from "./bodies.ts";
import { account } from "./accounting.ts";
import { type Content, describeContent } from "./content.ts";
import type { Run, RunMode, RunOutcome, Stage } from "./run.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

/** Where a run stands between two steps; JSON. */
export interface Checkpoint {
  readonly stage: Stage;
  readonly sources: { readonly [file: string]: string };
  /** From the build stage on. */
  readonly content: Content | null;
  /** SHA-256 of the common segment of each unit that has been stored, in order of `commonUnits`. */
  readonly commonSegments: readonly string[];
  /** Entries of the locales whose blobs have been stored. */
  readonly entries: { readonly [locale: string]: LocaleEntry };
}

/** What a step came to: another step, a version to publish and another step, or the end. */
export interface StepResult {
  readonly next: Checkpoint | null;
  readonly outcome: RunOutcome | null;
  /** What changes in the run as operators see it. */
  readonly patch: Partial<Run>;
  /** To be recorded as published, together with the step. */
  readonly publish: Manifest | null;
}

export interface PipelineDependencies {
  readonly store: CatalogStore;
  readonly archive: SourceArchive;
  readonly upstream: Upstream;
  readonly snapshot: Snapshot;
  /** Locales to publish, in order. */
  readonly locales: readonly string[];
  readonly now: () => number;
}

/** What the steps of a run are told of the world. */
export interface RunContext {
  readonly mode: RunMode;
  /** The version published last. */
  readonly current: Manifest | null;
}

export const FIRST_CHECKPOINT: Checkpoint = {
  stage: "fetch",
  sources: {},
  content: null,
  commonSegments: [],
  entries: {},
};

/**
 * Runs an ingest, one bounded step at a time. What it holds in memory only saves time: any step
 * may be the first after an eviction, and repeating one changes nothing.
 */
export class Pipeline {
  readonly #deps: PipelineDependencies;
  #workspace: { key: string; workspace: Workspace } | undefined;
  readonly #segments = new Map<string, Blob>();

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
  }

  /**
   * Does the next step. Throws SourceError or RunFault where the run cannot go on, anything else
   * where the step may succeed when repeated.
   */
  async step(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    switch (checkpoint.stage) {
      case "fetch":
        return this.#fetch(checkpoint);
      case "build":
        return this.#build(checkpoint, context);
      case "encode":
        return checkpoint.commonSegments.length < commonUnits().length
          ? this.#encodeCommon(checkpoint, context)
          : this.#encodeLocale(checkpoint, context);
      case "publish":
        return this.#publish(checkpoint, context);
      case "verify":
        return this.#verify(context);
      default:
        return checkpoint.stage satisfies never;
    }
  }

  /** Lets go of what a run left in memory. */
  forget(): void {
    this.#workspace = undefined;
    this.#segments.clear();
  }

  async #fetch(checkpoint: Checkpoint): Promise<StepResult> {
    const sources: { [file: string]: string } = { snapshot: this.#deps.snapshot.sha256 };
    for (const file of await this.#deps.upstream.fetch()) {
      if ("unchangedSha256" in file) {
        sources[file.name] = file.unchangedSha256;
        continue;
      }
      const sha256 = sha256Hex(file.bytes);
      await this.#deps.archive.write(sha256, file.bytes);
      sources[file.name] = sha256;
    }
    return proceed({ ...checkpoint, stage: "build", sources }, { sources });
  }

  async #build(checkpoint: Checkpoint, { mode, current }: RunContext): Promise<StepResult> {
    const workspace = await this.#open(checkpoint);
    const content = await describeContent(workspace, this.#deps.locales);
    const { catalogSha256 } = content;
    const patch = {
      accounting: account(workspace),
      catalogSha256,
      progress: { done: 0, total: commonUnits().length + this.#deps.locales.length },
    };
    if (mode === "incremental" && current?.catalog_sha256 === catalogSha256)
      return { next: null, outcome: "unchanged", patch, publish: null };
    return proceed({ ...checkpoint, stage: "encode", content }, patch);
  }

  async #encodeCommon(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const done = checkpoint.commonSegments.length;
    const unit = commonUnits()[done];
    if (unit === undefined) throw new Error(`no common segment ${done}`);
    const { common } = await this.#open(checkpoint);
    const blob = encodeCommonSegment(unit, common);
    // Representations may share a segment, and KV takes one write a second for each key.
    if (!checkpoint.commonSegments.includes(blob.sha256)) await this.#writeBlobs([blob], context);
    this.#segments.set(blob.sha256, blob);
    const commonSegments = [...checkpoint.commonSegments, blob.sha256];
    return proceed({ ...checkpoint, commonSegments }, this.#progress(done + 1));
  }

  async #encodeLocale(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const locale = this.#deps.locales.find((name) => checkpoint.entries[name] === undefined);
    if (locale === undefined) return proceed({ ...checkpoint, stage: "publish" }, {});
    const message = checkpoint.content?.messages[locale];
    if (message === undefined) throw new Error(`${locale} was not built`);
    const workspace = await this.#open(checkpoint);
    const { encoded } = await workspace.local(locale);
    const segments = await this.#commonSegments(checkpoint);
    const { bodies, blobs } = encodeBodies(workspace.common, encoded, (unit) => {
      const index = commonUnits().findIndex(
        (other) => other.representation === unit.representation && other.coding === unit.coding,
      );
      const segment = segments[index];
      if (segment === undefined) throw new Error(`no common segment ${index}`);
      return segment;
    });
    await this.#writeBlobs(blobs, context);
    const entries = { ...checkpoint.entries, [locale]: { ...message, bodies } };
    const done = checkpoint.commonSegments.length + Object.keys(entries).length;
    const stage = Object.keys(entries).length === this.#deps.locales.length ? "publish" : "encode";
    return proceed({ ...checkpoint, stage, entries }, this.#progress(done));
  }

  async #publish(checkpoint: Checkpoint, { current }: RunContext): Promise<StepResult> {
    const { content, sources, entries } = checkpoint;
    if (content === null) throw new Error("nothing was built");
    const { catalog } = await this.#open(checkpoint);
    const manifest: Manifest = {
      format: 1,
      generation: (current?.generation ?? 0) + 1,
      published_at: new Date(this.#deps.now()).toISOString(),
      catalog_sha256: content.catalogSha256,
      sources,
      counts: {
        airports: catalog.airports.length,
        cities: catalog.cities.length,
        countries: catalog.countries.length,
        regions: catalog.regions.length,
      },
      previous: current?.generation ?? null,
      locales: entries,
    };
    return {
      next: { ...checkpoint, stage: "verify" },
      outcome: null,
      patch: {
        generationBefore: current?.generation ?? null,
        generationAfter: manifest.generation,
      },
      publish: manifest,
    };
  }

  /** Brings KV and R2 to the version that was recorded, and reads it back. */
  async #verify({ current }: RunContext): Promise<StepResult> {
    if (current === null) throw new Error("nothing was published");
    const { store } = this.#deps;
    await store.writeGeneration(current);
    await store.writeManifest(current);
    const copies = [
      await store.readGeneration(current.generation),
      await store.readManifest("r2"),
      await store.readManifest("kv"),
    ];
    for (const copy of copies) {
      if (!copy.ok) throw new Error(copy.detail);
      if (copy.value.generation !== current.generation)
        throw new Error(`a store still has generation ${copy.value.generation}`);
    }
    return { next: null, outcome: "published", patch: {}, publish: null };
  }

  async #open({ sources }: Checkpoint): Promise<Workspace> {
    const key = JSON.stringify(sources);
    if (this.#workspace?.key === key) return this.#workspace.workspace;
    const { archive, snapshot } = this.#deps;
    const openSource = async (file: string, sha256: string) => archive.open(file, sha256);
    const workspace = await createWorkspace(sources, openSource, snapshotOpener(snapshot));
    this.#workspace = { key, workspace };
    return workspace;
  }

  async #commonSegments({ commonSegments }: Checkpoint): Promise<Blob[]> {
    const blobs: Blob[] = [];
    for (const sha256 of commonSegments) {
      const blob = this.#segments.get(sha256) ?? (await this.#readBlob(sha256));
      this.#segments.set(sha256, blob);
      blobs.push(blob);
    }
    return blobs;
  }

  async #readBlob(sha256: string): Promise<Blob> {
    const copy = await this.#deps.store.readBlob("r2", sha256);
    if (!copy.ok) throw new Error(copy.detail);
    return { sha256, bytes: copy.value };
  }

  /** Stores blobs that the current version lacks, and reads them back. */
  async #writeBlobs(blobs: readonly Blob[], { mode, current }: RunContext): Promise<void> {
    const stored = mode === "full" || current === null ? new Set() : manifestBlobs(current);
    const { store } = this.#deps;
    await Promise.all(
      blobs
        .filter((blob) => !stored.has(blob.sha256))
        .map(async ({ sha256, bytes }) => {
          await store.writeBlob(sha256, bytes);
          for (const replica of ["r2", "kv"] as const) {
            const copy = await store.readBlob(replica, sha256);
            if (!copy.ok) throw new Error(`${replica} ${copy.fault} ${copy.detail}`);
          }
        }),
    );
  }

  #progress(done: number): Partial<Run> {
    return { progress: { done, total: commonUnits().length + this.#deps.locales.length } };
  }
}

function proceed(next: Checkpoint, patch: Partial<Run>): StepResult {
  return { next, outcome: null, patch, publish: null };
}
