import { countChanges } from "../catalog/diff.ts";
import { type AirportSet, MANIFEST_FORMAT, type VersionContent } from "../parts/manifest.ts";
import { snapshotOpener } from "../sources/snapshot.ts";
import type { CatalogStore } from "../storage/catalog-store.ts";
import { hasLostBlobs } from "../storage/lost-blobs.ts";
import { ledgerOf } from "./ledger-files.ts";
import { acceptSources, type HoldLimits } from "./accept-sources.ts";
import { account, countEntities } from "./accounting.ts";
import { countReasons } from "../sources/upstream-reader.ts";
import { DiffMaker, earlierContents } from "./diffs.ts";
import {
  type IngestCheckpoint,
  contentOf,
  deployName,
  FIRST_INGEST_CHECKPOINT,
  isOfDeploy,
  parseAgain,
  parsedOf,
  sharedOf,
} from "./checkpoint.ts";
import { finish, proceed, type RunContext, type IngestStepResult } from "./step.ts";
import { describeContent, isSameContent } from "./content.ts";
import { EncodeStage } from "./encode-stage.ts";
import { GuardsTripped } from "./faults.ts";
import { datesOf, type FetchDependencies, fetchSources, findUpstream } from "./fetch-sources.ts";
import { findRefusals } from "./guards.ts";
import { guardCandidate } from "./verdict.ts";
import type { Report } from "../schemas/run-report.ts";
import { compressPart, type CompressionInput, type Effort } from "../parts/codings.ts";
import type { EpochMs, Sha256Hex } from "../platform/units.ts";
import { PartStore } from "./part-store.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export interface PipelineDependencies extends FetchDependencies {
  readonly store: CatalogStore;
  readonly locales: readonly string[];
  /** Locale of the names in change samples. */
  readonly defaultLocale: string;
  readonly airportSet: AirportSet;
  readonly holdLimits: HoldLimits;
  /** Does not affect the content of a version. */
  readonly effort: Effort;
  readonly compress: (task: CompressionInput) => Promise<Uint8Array>;
  readonly now: () => EpochMs;
}

/** Runs an ingest in idempotent steps. Each may be the first of a new instance. */
export class Pipeline {
  readonly #deps: PipelineDependencies;
  readonly #deploy: string;
  #workspace: { key: string; workspace: Workspace } | undefined;
  readonly #parts: PartStore;
  readonly #diffs: DiffMaker;
  readonly #encoding: EncodeStage;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
    this.#deploy = deployName(deps);
    this.#parts = new PartStore(deps.store);
    this.#diffs = new DiffMaker(deps.store, this.#parts);
    const { locales, compress, effort } = deps;
    this.#encoding = new EncodeStage({
      locales,
      compress: (task) => compress({ effort, ...task }),
      // At `fast`, locale parts take less time than the calls would.
      compressLocalePart: async (task) =>
        effort === "fast" ? compressPart({ effort, ...task }) : compress({ effort, ...task }),
      effort,
      parts: this.#parts,
      diffs: this.#diffs,
      open: (checkpoint) => this.#open(checkpoint),
    });
  }

  /**
   * Takes the next step. Restarts an unpublished run of a deployment with other code or settings.
   *
   * @throws SourceError or RunFault if the run fails, and StoreError if a repetition may succeed.
   */
  async step(checkpoint: IngestCheckpoint, context: RunContext): Promise<IngestStepResult> {
    if (!isOfDeploy(checkpoint, this.#deploy))
      return proceed(FIRST_INGEST_CHECKPOINT, { progress: { done: 0, total: 0 } });
    switch (checkpoint.stage) {
      case "fetch":
        return this.#fetch(checkpoint, context);
      case "parse":
        return this.#parse(checkpoint, context);
      case "build":
        return this.#build(checkpoint);
      case "guard":
        return this.#guard(checkpoint, context);
      case "encode":
        return this.#encoding.step(checkpoint, {
          ...context,
          mustStoreAll: checkpoint.mustStoreAll,
        });
      case "publish":
        return this.#publish(checkpoint, context);
      default:
        return checkpoint.stage satisfies never;
    }
  }

  forget(): void {
    this.#workspace = undefined;
    this.#parts.forget();
  }

  async #fetch(checkpoint: IngestCheckpoint, context: RunContext): Promise<IngestStepResult> {
    const { sources, upstream } = await fetchSources(this.#deps, context);
    const madeBy = this.#deploy;
    const { upstreams, snapshot } = this.#deps;
    const { source } = context;
    const { reader } = findUpstream(upstreams, source);
    const dates = datesOf({ source, reader, upstream, snapshot });
    return proceed({ ...checkpoint, stage: "parse", madeBy, sources, dates }, { upstream });
  }

  async #parse(checkpoint: IngestCheckpoint, context: RunContext): Promise<IngestStepResult> {
    const { archive, snapshot, holdLimits, now, upstreams } = this.#deps;
    const { ledger, retained, source } = context;
    const earlier = retained.versions().map((version) => ledgerOf(version.sources));
    const ledgers = ledger === null ? [] : [ledger, ...earlier.filter((known) => known !== null)];
    const accepted = await acceptSources(
      { archive, openSnapshot: snapshotOpener(snapshot), limits: holdLimits, now },
      {
        ...context,
        reader: findUpstream(upstreams, source).reader,
        sources: checkpoint.sources,
        ledgers,
      },
    );
    const { read, held, measure, listed } = accepted;
    const sources = { ...checkpoint.sources, ...accepted.files };
    const workspace = await this.#open({ sources });
    const parsed = {
      rows: {
        seen: read.seen - read.filtered,
        rejected: read.rejects.length,
        reasons: countReasons(read.rejects),
      },
      measure,
      listed,
      lastDecision: context.decisions.at(-1)?.seq ?? 0,
      held: {
        waiting: held.surprising,
        oldest_since: held.oldest_since,
        next_due_at: held.next_due_at,
        ...(held.unusable && { unusable: held.unusable }),
        ...(held.ledger_lost && { ledger_lost: held.ledger_lost }),
      },
    };
    const next: IngestCheckpoint = { ...checkpoint, stage: "build", sources, parsed };
    return proceed(next, { ...account(accepted, workspace), held });
  }

  async #build(checkpoint: IngestCheckpoint): Promise<IngestStepResult> {
    const content = await describeContent(await this.#open(checkpoint), this.#deps.locales);
    const { catalog_sha256 } = content;
    return proceed({ ...checkpoint, stage: "guard", content }, { catalog_sha256 });
  }

  /** Guards the candidate, even if it is published already, because the next file is compared with this one. */
  async #guard(checkpoint: IngestCheckpoint, context: RunContext): Promise<IngestStepResult> {
    const content = contentOf(checkpoint);
    const { mode, forced, current } = context;
    const { locales, defaultLocale, airportSet, store } = this.#deps;
    const workspace = await this.#open(checkpoint);
    const parsed = parsedOf(checkpoint);
    const candidate = { workspace, content, parsed, locales, defaultLocale, airportSet };
    const { trips, changes } = await guardCandidate(candidate, current, store);
    const patch: Partial<Report> = {
      // Without an intact copy of the published version, the changes are unknown.
      counts:
        current !== null && changes === null
          ? null
          : countEntities(workspace, parsed, changes && countChanges(changes)),
      changes,
      guards: trips,
      generation_before: current?.generation ?? null,
      progress: this.#encoding.progress(checkpoint),
    };
    if (mode === "dry_run") return finish("dry_run", patch);
    const refused = findRefusals(trips, forced);
    if (refused.length > 0) throw new GuardsTripped(refused, patch);
    const mustStoreAll =
      mode === "full" || (current !== null && (await hasLostBlobs(store, current)));
    if (!mustStoreAll && current?.catalog_sha256 === content.catalog_sha256)
      return finish("unchanged", patch);
    const { catalog } = workspace;
    const earlier = earlierContents(context.retained.versions(), content.catalog_sha256, locales);
    const diffs = await this.#diffs.start(catalog, earlier, { mustStoreAll, current });
    const judgedAgainst = current?.generation ?? null;
    const next: IngestCheckpoint = { ...checkpoint, stage: "encode", judgedAgainst, mustStoreAll };
    return proceed({ ...next, diffs }, patch);
  }

  async #publish(checkpoint: IngestCheckpoint, { current }: RunContext): Promise<IngestStepResult> {
    const { sources, dates, entries, judgedAgainst } = checkpoint;
    const shared = sharedOf(checkpoint);
    const { catalog_sha256, counts } = contentOf(checkpoint);
    // An operator has rolled back since then, so the ledger belongs to another version.
    if (judgedAgainst !== (current?.generation ?? null)) return proceed(parseAgain(checkpoint), {});
    if (current !== null && isSameContent({ shared, locales: entries }, current))
      return finish("unchanged", { generation_before: current.generation });
    const publish: VersionContent = {
      format: MANIFEST_FORMAT,
      catalog_sha256,
      sources,
      ...dates,
      airport_set: this.#deps.airportSet,
      counts,
      diffs: checkpoint.diffs,
      shared,
      locales: entries,
    };
    const patch = { generation_before: current?.generation ?? null };
    return { ...finish("published", patch), publish };
  }

  async #open({ sources }: Pick<IngestCheckpoint, "sources">): Promise<Workspace> {
    const key = JSON.stringify(sources);
    if (this.#workspace?.key === key) return this.#workspace.workspace;
    const { archive, snapshot, airportSet } = this.#deps;
    const openSource = async (file: string, sha256: Sha256Hex) => archive.open(file, sha256);
    const opener = snapshotOpener(snapshot);
    const workspace = await createWorkspace(sources, openSource, opener, airportSet);
    this.#workspace = { key, workspace };
    return workspace;
  }
}
