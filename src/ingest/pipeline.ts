import { inChunks } from "../catalog/bytes.ts";
import type { ContractLimits } from "../catalog/contract-limits.ts";
import { countChanges } from "../catalog/diff.ts";
import { commonPieces } from "../catalog/encode.ts";
import type { Manifest } from "../catalog/manifest.ts";
import { snapshotOpener } from "../sources/snapshot.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { account, countEntities, UNCHANGED } from "./accounting.ts";
import {
  type Blob,
  COMMON_PIECE_BYTES,
  type CommonPiece,
  type CommonUnit,
  compressPiece,
  encodeBodies,
  toBlob,
} from "./bodies.ts";
import {
  type Checkpoint,
  deployName,
  FIRST_CHECKPOINT,
  finish,
  isOfDeploy,
  proceed,
  type RunContext,
  type StepResult,
} from "./checkpoint.ts";
import { contentOf, countCommon, nextCommon, piecesOf } from "./common-progress.ts";
import { describeContent } from "./content.ts";
import { GuardsTripped } from "./faults.ts";
import { type FetchDependencies, fetchSources } from "./fetch-sources.ts";
import { applyForce } from "./guards.ts";
import { commonSegment, formOf } from "./plain-segments.ts";
import { heal, replicate } from "./publisher.ts";
import type { Run } from "./run.ts";
import { StoredPieces } from "./stored-pieces.ts";
import { judge } from "./verdict.ts";
import { isSameContent } from "./versions.ts";
import { createWorkspace, type LocalParts, type Workspace } from "./workspace.ts";

export interface PipelineDependencies extends FetchDependencies {
  readonly store: CatalogStore;
  /** Locales to publish, in order. */
  readonly locales: readonly string[];
  readonly limits: ContractLimits;
  readonly now: () => number;
}

/**
 * Runs an ingest, one bounded step at a time. What it holds in memory only saves time: any step
 * may be the first after an eviction, and repeating one changes nothing.
 */
export class Pipeline {
  readonly #deps: PipelineDependencies;
  readonly #deploy: string;
  #workspace: { key: string; workspace: Workspace } | undefined;
  #local: { key: string; parts: LocalParts } | undefined;
  readonly #pieces: StoredPieces;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
    this.#deploy = deployName(deps.snapshot.sha256, deps.locales);
    this.#pieces = new StoredPieces(deps.store);
  }

  /**
   * Does the next step. What a deploy with other code, another snapshot or other locales has begun is
   * begun anew, unless it is published. Throws SourceError or RunFault where the run cannot go on,
   * StoreError where the step may succeed when repeated, anything else by a bug.
   */
  async step(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    if (!isOfDeploy(checkpoint, this.#deploy))
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
        return nextCommon(checkpoint) !== undefined
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
    this.#local = undefined;
    this.#pieces.forget();
  }

  async #fetch(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const { sources, upstream } = await fetchSources(this.#deps, context);
    const madeBy = this.#deploy;
    return proceed({ ...checkpoint, stage: "parse", madeBy, sources }, { upstream });
  }

  async #parse(checkpoint: Checkpoint): Promise<StepResult> {
    const workspace = await this.#open(checkpoint);
    return proceed({ ...checkpoint, stage: "build" }, account(workspace));
  }

  async #build(checkpoint: Checkpoint, { mode, current }: RunContext): Promise<StepResult> {
    const workspace = await this.#open(checkpoint);
    const content = await describeContent(workspace, this.#deps.locales, this.#deps.limits);
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
    const content = contentOf(checkpoint);
    const { mode, forced, current } = context;
    const { locales, limits, store } = this.#deps;
    const workspace = await this.#open(checkpoint);
    const candidate = { workspace, content, locales, limits };
    const { trips, changes } = await judge(candidate, current, store);
    const patch: Partial<Run> = {
      // Nobody knows what is new where what is published cannot be read.
      counts:
        current !== null && changes === null
          ? null
          : countEntities(workspace, changes && countChanges(changes)),
      changes,
      guards: trips,
      generationBefore: current?.generation ?? null,
      progress: this.#progress(checkpoint),
    };
    if (mode === "dry_run") return finish("dry_run", patch);
    const { refused } = applyForce(trips, forced);
    if (refused.length > 0) throw new GuardsTripped(refused, patch);
    const judgedAgainst = current?.generation ?? null;
    return proceed({ ...checkpoint, stage: "encode", judgedAgainst }, patch);
  }

  /** Stores one uncompressed common segment whole, or one piece of a compressed one. */
  async #encodeCommon(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const { common } = checkpoint;
    const to = nextCommon(checkpoint);
    if (to === undefined) throw new Error("every common segment is stored");
    const { unit, index } = to;
    const before = common[index] ?? [];
    const added =
      unit.coding === "identity"
        ? await this.#storePlain(unit, checkpoint, context)
        : [await this.#storeCompressed(unit, checkpoint, context)];
    const next = { ...checkpoint, common: [...common.slice(0, index), [...before, ...added]] };
    return proceed(next, { progress: this.#progress(next) });
  }

  async #storePlain(
    { representation }: CommonUnit,
    checkpoint: Checkpoint,
    context: RunContext,
  ): Promise<CommonPiece[]> {
    const form = formOf(representation);
    if (form !== representation) this.#letGoOfCatalog();
    const segment = commonSegment(
      representation,
      form === representation
        ? commonPieces((await this.#open(checkpoint)).catalog, form)
        : this.#readPieces(checkpoint, { representation: form, coding: "identity" }),
      contentOf(checkpoint).commonBytes[form],
    );
    const pieces: CommonPiece[] = [];
    for await (const bytes of inChunks(segment, COMMON_PIECE_BYTES)) {
      const piece = await this.#storePiece(toBlob(bytes), checkpoint, context);
      this.#pieces.letGo(piece, bytes);
      pieces.push(piece);
    }
    return pieces;
  }

  async #storeCompressed(
    unit: CommonUnit,
    checkpoint: Checkpoint,
    context: RunContext,
  ): Promise<CommonPiece> {
    const done = piecesOf(checkpoint, unit).length;
    const plain = piecesOf(checkpoint, { ...unit, coding: "identity" })[done];
    if (plain === undefined) throw new Error(`no piece ${done} of ${unit.representation}`);
    this.#letGoOfCatalog();
    const bytes = await this.#pieces.read(plain);
    const blob = compressPiece(unit, bytes, done * COMMON_PIECE_BYTES);
    this.#pieces.letGo(plain, bytes);
    return this.#storePiece(blob, checkpoint, context);
  }

  async #storePiece(blob: Blob, { common }: Checkpoint, context: RunContext): Promise<CommonPiece> {
    // Representations may share a piece, and KV takes one write a second for each key.
    if (!common.flat().some((piece) => piece.blob === blob.sha256))
      await this.#pieces.write([blob], context);
    // A large world does not fit into memory in both forms: as a catalog, and encoded.
    if (this.#workspace === undefined) this.#pieces.hold(blob);
    return { blob: blob.sha256, bytes: blob.bytes.length };
  }

  async #encodeLocale(checkpoint: Checkpoint, context: RunContext): Promise<StepResult> {
    const locale = this.#deps.locales.find((name) => checkpoint.entries[name] === undefined);
    if (locale === undefined) return proceed({ ...checkpoint, stage: "publish" }, {});
    const message = contentOf(checkpoint).messages[locale];
    if (message === undefined) throw new Error(`${locale} was not built`);
    const local = await this.#openLocal(checkpoint);
    const part = await local(locale);
    const common = {
      pieces: (unit: CommonUnit) => piecesOf(checkpoint, unit),
      read: (piece: CommonPiece) => this.#pieces.read(piece),
      letGo: (piece: CommonPiece, bytes: Uint8Array) => this.#pieces.letGo(piece, bytes),
    };
    const bodies = await encodeBodies(part.encode(), common, (blobs) =>
      this.#pieces.write(blobs, context),
    );
    if (bodies.proto.identity?.sha256 !== message.sha256)
      throw new Error(`the message in ${locale} is not the one that was built`);
    const entries = { ...checkpoint.entries, [locale]: { ...message, bodies } };
    const stage = Object.keys(entries).length === this.#deps.locales.length ? "publish" : "encode";
    const next = { ...checkpoint, entries };
    return proceed({ ...next, stage }, { progress: this.#progress(next) });
  }

  async #publish(checkpoint: Checkpoint, { current }: RunContext): Promise<StepResult> {
    const { sources, entries, judgedAgainst } = checkpoint;
    const { catalogSha256, counts } = contentOf(checkpoint);
    // Somebody has rolled back since: what the guards said was said of another version.
    if (judgedAgainst !== (current?.generation ?? null))
      return proceed({ ...checkpoint, stage: "guard" }, {});
    if (current !== null && isSameContent({ locales: entries }, current)) {
      await heal(this.#deps.store, current);
      return finish("unchanged", { generationBefore: current.generation });
    }
    const manifest: Manifest = {
      format: 1,
      generation: (current?.generation ?? 0) + 1,
      published_at: new Date(this.#deps.now()).toISOString(),
      catalog_sha256: catalogSha256,
      sources,
      counts,
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
    const { archive, snapshot, limits } = this.#deps;
    const openSource = async (file: string, sha256: string) => archive.open(file, sha256);
    const opener = snapshotOpener(snapshot);
    const workspace = await createWorkspace(sources, openSource, opener, limits);
    this.#workspace = { key, workspace };
    return workspace;
  }

  /** The parts of locales alone: what is common is stored by then. */
  async #openLocal(checkpoint: Checkpoint): Promise<LocalParts> {
    const key = JSON.stringify(checkpoint.sources);
    if (this.#local?.key !== key) await this.#open(checkpoint);
    this.#letGoOfCatalog();
    if (this.#local === undefined) throw new Error("nothing was opened");
    return this.#local.parts;
  }

  #letGoOfCatalog(): void {
    if (this.#workspace === undefined) return;
    const { key, workspace } = this.#workspace;
    this.#local = { key, parts: workspace.local };
    this.#workspace = undefined;
  }

  async *#readPieces(checkpoint: Checkpoint, unit: CommonUnit): AsyncGenerator<Uint8Array> {
    for (const piece of piecesOf(checkpoint, unit)) yield await this.#pieces.read(piece);
  }

  #progress(checkpoint: Checkpoint): Run["progress"] {
    const { done, total } = countCommon(checkpoint);
    const { locales } = this.#deps;
    return { done: done + Object.keys(checkpoint.entries).length, total: total + locales.length };
  }
}
