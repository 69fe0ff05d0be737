import { findBody } from "../catalog/deltas.ts";
import type { AnyCoding } from "../catalog/framing.ts";
import type { Body, Manifest } from "../catalog/manifest.ts";
import { BodyLoader, type Loaded } from "./body-loader.ts";
import type {
  BlobReader,
  CatalogMemory,
  CatalogReader,
  CurrentResult,
  Opened,
  OpenResult,
  ReaderDependencies,
  Selection,
} from "./catalog-reader.ts";
import type { Copy, Fault } from "./catalog-store.ts";
import type { Content } from "./content.ts";
import { settledWithin } from "./deadline.ts";
import { HedgedReads } from "./hedged-reads.ts";
import { ManifestMemo } from "./manifest-memo.ts";

/** A body that a request accepts, with its version. */
interface Choice {
  readonly manifest: Manifest;
  readonly coding: AnyCoding;
  readonly body: Body;
}

/** Longest wait for the stores while memory has the same content in another coding. */
const PATIENCE_MS = 1_000;

type Faults = Set<Fault["fault"]>;

/**
 * Reads the catalog from memory, then from KV or R2. If neither store gives a body, it falls back to
 * another coding or the previous version in memory, then to another coding, a newer version and the
 * previous version in the stores. It never uses a blob with a wrong hash. Each isolate has one
 * reader.
 */
export class CachedCatalogReader implements CatalogReader, CatalogMemory, BlobReader {
  readonly #memo: ManifestMemo;
  readonly #bodies: BodyLoader;

  constructor(deps: ReaderDependencies) {
    const reads = new HedgedReads(deps);
    this.#memo = new ManifestMemo(deps, reads);
    this.#bodies = new BodyLoader(deps, reads);
  }

  heldCurrent(): CurrentResult | undefined {
    return this.#memo.held();
  }

  heldContent(body: Body): Content | undefined {
    return this.#bodies.held(body);
  }

  async current(): Promise<CurrentResult> {
    return this.heldCurrent() ?? this.#memo.current();
  }

  async newest(): Promise<CurrentResult> {
    return this.#memo.newest();
  }

  async findOlder(isWanted: (manifest: Manifest) => boolean): Promise<Copy<Manifest>> {
    return this.#memo.findOlder(isWanted);
  }

  async blob(sha256: string): Promise<Copy<Blob>> {
    return this.#bodies.loadBlob(sha256);
  }

  async open(selection: Selection): Promise<OpenResult> {
    const choices = choicesOf(selection);
    const faults: Faults = new Set();
    const opened =
      this.#findHeld(choices.slice(0, 1), selection) ??
      (await this.#tryBest(choices, selection, faults)) ??
      this.#findHeld([...choices, ...olderChoices(selection, this.#memo.previous)], selection) ??
      (await this.#tryLoad(choices.slice(1), selection, faults)) ??
      (await this.#tryNewer(selection, faults)) ??
      (await this.#tryPrevious(selection, faults));
    if (opened !== undefined) return { ok: true, opened };
    return { ok: false, reason: faults.has("unreadable") ? "unavailable" : "data_loss" };
  }

  /** Opens the first choice, but does not wait long while memory has another. */
  async #tryBest(
    choices: readonly Choice[],
    selection: Selection,
    faults: Faults,
  ): Promise<Opened | undefined> {
    const best = this.#tryLoad(choices.slice(0, 1), selection, faults);
    return this.#findHeld(choices.slice(1), selection) === undefined
      ? best
      : settledWithin(PATIENCE_MS, best, () => undefined);
  }

  /** Blobs of a version that was replaced long ago are deleted. */
  async #tryNewer(selection: Selection, faults: Faults): Promise<Opened | undefined> {
    if (selection.isExact || faults.has("unreadable")) return undefined;
    const newest = await this.#memo.newest();
    if (!newest.ok || newest.manifest.generation <= selection.manifest.generation) return undefined;
    return this.#tryLoad(choicesOf({ ...selection, ...newest }), selection, faults);
  }

  async #tryPrevious(selection: Selection, faults: Faults): Promise<Opened | undefined> {
    if (selection.isExact) return undefined;
    const previous = await this.#memo.loadPrevious(selection.manifest);
    return previous.ok
      ? this.#tryLoad(olderChoices(selection, previous.value), selection, faults)
      : undefined;
  }

  /** Opens the first choice that can be loaded. */
  async #tryLoad(
    choices: readonly Choice[],
    selection: Selection,
    faults: Faults,
  ): Promise<Opened | undefined> {
    for (const choice of choices) {
      const copy = await this.#bodies.load(choice.body, choice.coding);
      if (copy.ok) return toOpened(choice, selection, copy.value);
      faults.add(copy.fault);
    }
    return undefined;
  }

  #findHeld(choices: readonly Choice[], selection: Selection): Opened | undefined {
    for (const choice of choices) {
      const content = this.#bodies.held(choice.body);
      if (content !== undefined) return toOpened(choice, selection, { content, origin: "memory" });
    }
    return undefined;
  }
}

/** Lists the published bodies that a selection accepts, best first. */
function choicesOf({ manifest, locale, representation, codings }: Selection): Choice[] {
  return codings.flatMap((coding) => {
    const body = findBody(manifest, { locale, representation, coding });
    return body === undefined ? [] : [{ manifest, coding, body }];
  });
}

/** Lists the bodies of an older version that a selection accepts, best first. */
function olderChoices(selection: Selection, manifest: Manifest | undefined): Choice[] {
  return manifest === undefined || selection.isExact ? [] : choicesOf({ ...selection, manifest });
}

function toOpened(
  { manifest, coding, body }: Choice,
  { locale, representation }: Selection,
  loaded: Loaded,
): Opened | undefined {
  const entry = manifest.locales[locale];
  return entry && { manifest, locale, entry, representation, coding, body, ...loaded };
}
