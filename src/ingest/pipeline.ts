import { sha256Hex } from "../catalog/hash.ts";
import { type Manifest, manifestBlobs } from "../catalog/manifest.ts";
import { type Snapshot, snapshotOpener } from "../sources/snapshot.ts";
import type { Upstream } from "../sources/upstream.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import { account, countEntities, countLists } from "./accounting.ts";
import { type Blob, commonUnits, encodeBodies, encodeCommonSegment } from "./bodies.ts";
import {
  type Checkpoint,
  finish,
  FIRST_CHECKPOINT,
  proceed,
  type RunContext,
  type StepResult,
} from "./checkpoint.ts";
import { describeContent } from "./content.ts";
import { GuardsTripped, RunFault } from "./faults.ts";
import { applyForce } from "./guards.ts";
import { heal, replicate } from "./publisher.ts";
import type { Run, UpstreamFacts } from "./run.ts";
import { judge } from "./verdict.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface PipelineDependencies {
  readonly store: CatalogStore;
  readonly archive: SourceArchive;
  /** By their names. */
  readonly upstreams: { readonly [name: string]: Upstream };
  readonly snapshot: Snapshot;
  /** Locales to publish, in order. */
  readonly locales: readonly string[];
  readonly now: () => number;
}

/**
 * Runs an ingest, one bounded step at a time. What it holds in memory only saves time: any step
 * may be the first after an eviction, and repeating one changes nothing.
 */
export class Pipeline {
  readonly #deps: PipelineDependencies;
  readonly #name: string;
  #workspace: { key: string; workspace: Workspace } | undefined;
  readonly #segments = new Map<string, Blob>();

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
    this.#name = JSON.stringify([deps.snapshot.sha256, deps.locales]);
  }

  /**
   * Does the next step. What a deploy with another snapshot or other locales has begun is begun anew,
   * unless it is published. Throws SourceError or RunFault where the run cannot go on, anything else
   * where the step may succeed when repeated.
   */
  async step(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const { stage, madeBy } = checkpoint;
    if (stage !== "fetch" && stage !== "verify" && madeBy !== this.#name)
      return proceed(FIRST_CHECKPOINT, { progress: { done: 0, total: 0 } });
    switch (checkpoint.stage) {
      case "fetch":
        return this.#fetch(checkpoint, context);
      case "parse":
        return this.#parse(checkpoint);
      case "build":
        return this.#build(checkpoint, context);
      case "guard":
        return this.#guard(checkpoint, context);
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

  async #fetch(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const from = this.#deps.upstreams[context.source];
    if (from === undefined)
      throw new RunFault("unknown_source", `there is no source "${context.source}"`);
    const archived = context.mode === "full" ? {} : context.archived;
    const sources: { [file: string]: string } = { snapshot: this.#deps.snapshot.sha256 };
    const upstream: { [file: string]: UpstreamFacts } = {};
    for (const file of await from.fetch(archived)) {
      const known = archived[file.name];
      if ("unchangedSha256" in file) {
        sources[file.name] = file.unchangedSha256;
        if (known !== undefined) upstream[file.name] = known;
        continue;
      }
      const { name, bytes, ...validators } = file;
      const sha256 = sha256Hex(bytes);
      await this.#deps.archive.write(sha256, bytes);
      sources[name] = sha256;
      upstream[name] = { sha256, bytes: bytes.length, ...validators };
    }
    const madeBy = this.#name;
    return proceed({ ...checkpoint, stage: "parse", madeBy, sources }, { upstream });
  }

  async #parse(checkpoint: Checkpoint): Promise<StepResult> {
    const workspace = await this.#open(checkpoint);
    return proceed({ ...checkpoint, stage: "build" }, account(workspace));
  }

  async #build(checkpoint: Checkpoint, { mode, current }: RunContext): Promise<StepResult> {
    const workspace = await this.#open(checkpoint);
    const content = await describeContent(workspace, this.#deps.locales);
    const { catalogSha256 } = content;
    if (mode === "incremental" && current?.catalog_sha256 === catalogSha256) {
      await heal(this.#deps.store, current);
      return finish("unchanged", {
        catalogSha256,
        counts: countEntities(workspace, UNCHANGED),
        generationBefore: current.generation,
      });
    }
    return proceed({ ...checkpoint, stage: "guard", content }, { catalogSha256 });
  }

  async #guard(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const { content } = checkpoint;
    if (content === null) throw new Error("nothing was built");
    const { mode, forced, current } = context;
    const { locales, store } = this.#deps;
    const workspace = await this.#open(checkpoint);
    const { trips, changes } = await judge({ workspace, content, locales }, current, store);
    const patch: Partial<Run> = {
      counts: countEntities(workspace, changes),
      guards: trips,
      generationBefore: current?.generation ?? null,
      progress: { done: 0, total: commonUnits().length + locales.length },
    };
    if (mode === "dry_run") return finish("dry_run", patch);
    const { refused } = applyForce(trips, forced);
    if (refused.length > 0) throw new GuardsTripped(refused);
    return proceed({ ...checkpoint, stage: "encode" }, patch);
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
    if (sha256Hex(workspace.common.proto, encoded.proto) !== message.sha256)
      throw new Error(`${locale} is no longer what was built, before a deploy`);
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
    if (current !== null && JSON.stringify(entries) === JSON.stringify(current.locales))
      return finish("unchanged", { generationBefore: current.generation });
    const manifest: Manifest = {
      format: 1,
      generation: (current?.generation ?? 0) + 1,
      published_at: new Date(this.#deps.now()).toISOString(),
      catalog_sha256: content.catalogSha256,
      sources,
      counts: countLists(await this.#open(checkpoint)),
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

  /** Brings the stores to the version that is recorded as published. */
  async #verify({ current }: RunContext): Promise<StepResult> {
    if (current === null) throw new Error("nothing was published");
    await replicate(this.#deps.store, current);
    return finish("published");
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
  async #writeBlobs(blobs: readonly Blob[], context: RunContext): Promise<void> {
    const { mode, current, noteBlobs } = context;
    const stored = mode === "full" || current === null ? new Set() : manifestBlobs(current);
    const missing = blobs.filter((blob) => !stored.has(blob.sha256));
    const { store } = this.#deps;
    noteBlobs(missing.map(({ sha256 }) => sha256));
    await Promise.all(
      missing.map(async ({ sha256, bytes }) => {
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

const NO_CHANGES = { added: 0, changed: 0, removed: 0 };
const UNCHANGED = {
  airports: NO_CHANGES,
  cities: NO_CHANGES,
  countries: NO_CHANGES,
  regions: NO_CHANGES,
};
