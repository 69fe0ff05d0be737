import type { Body, Coding, Manifest } from "../catalog/manifest.ts";
import { BodyLoader } from "./body-loader.ts";
import type {
  Caller,
  CatalogMemory,
  CatalogReader,
  CurrentResult,
  Opened,
  OpenResult,
  ReaderDependencies,
  Selection,
} from "./catalog-reader.ts";
import type { Copy, Replica } from "./catalog-store.ts";
import { abortable } from "./deadline.ts";
import { ManifestMemo } from "./manifest-memo.ts";

/** A body that a request accepts, with its version. */
interface Choice {
  readonly manifest: Manifest;
  readonly coding: Coding;
  readonly body: Body;
}

type Fault = Extract<Copy<unknown>, { ok: false }>["fault"];

/**
 * Reads the catalog from memory, then from KV. While KV fails, it falls back to another coding or
 * the previous version in memory, then to R2, then to another coding and finally to the previous
 * version in either store. It never uses a blob with a wrong hash. Each isolate has one reader.
 */
export class CachedCatalogReader implements CatalogReader, CatalogMemory {
  readonly #deps: ReaderDependencies;
  readonly #memo: ManifestMemo;
  readonly #bodies: BodyLoader;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
    this.#memo = new ManifestMemo(deps);
    this.#bodies = new BodyLoader(deps);
  }

  heldCurrent(): CurrentResult | undefined {
    return this.#memo.held();
  }

  heldContent(body: Body): Blob | undefined {
    return this.#bodies.held(body);
  }

  async current({ signal }: Caller): Promise<CurrentResult> {
    return this.heldCurrent() ?? abortable(signal, this.#memo.load());
  }

  async open(selection: Selection, { signal }: Caller): Promise<OpenResult> {
    const choices = choicesOf(selection);
    const held = this.#findHeld(choices.slice(0, 1), selection);
    if (held !== undefined) return { ok: true, opened: held };
    return abortable(signal, this.#load(selection, choices));
  }

  async #load(selection: Selection, choices: readonly Choice[]): Promise<OpenResult> {
    const faults = new Set<Fault>();
    const opened =
      (await this.#try(["kv"], choices.slice(0, 1), selection, faults)) ??
      this.#lastGood(selection, choices) ??
      (await this.#try(["kv", "r2"], choices, selection, faults)) ??
      (await this.#tryPrevious(selection, faults));
    if (opened !== undefined) return { ok: true, opened };
    return { ok: false, reason: faults.has("unreadable") ? "unavailable" : "data_loss" };
  }

  /** Finds another coding or the previous version in memory. Loads from R2 in the background. */
  #lastGood(selection: Selection, choices: readonly Choice[]): Opened | undefined {
    const before = this.#memo.previous;
    const older = before === undefined ? [] : choicesOf({ ...selection, manifest: before });
    const opened = this.#findHeld([...choices, ...older], selection);
    const [wanted] = choices;
    if (opened !== undefined && wanted !== undefined)
      this.#deps.waitUntil(this.#bodies.load("r2", wanted.body));
    return opened;
  }

  async #tryPrevious(selection: Selection, faults: Set<Fault>): Promise<Opened | undefined> {
    const generation = selection.manifest.previous;
    if (generation === null) return undefined;
    const previous = await this.#deps.store.readGeneration(generation);
    if (!previous.ok) {
      faults.add(previous.fault);
      this.#deps.report(`generation_${previous.fault}`, previous.detail);
      return undefined;
    }
    const choices = choicesOf({ ...selection, manifest: previous.value });
    return this.#try(["kv", "r2"], choices, selection, faults);
  }

  /** Opens the first readable choice and tries the replicas in order for each. */
  async #try(
    replicas: readonly Replica[],
    choices: readonly Choice[],
    selection: Selection,
    faults: Set<Fault>,
  ): Promise<Opened | undefined> {
    for (const choice of choices) {
      const held = this.#findHeld([choice], selection);
      if (held !== undefined) return held;
      for (const replica of replicas) {
        const copy = await this.#bodies.load(replica, choice.body);
        if (copy.ok) return toOpened(choice, selection, copy.value);
        faults.add(copy.fault);
      }
    }
    return undefined;
  }

  #findHeld(choices: readonly Choice[], selection: Selection): Opened | undefined {
    for (const choice of choices) {
      const content = this.#bodies.held(choice.body);
      if (content !== undefined) return toOpened(choice, selection, content);
    }
    return undefined;
  }
}

/** Lists the published bodies that a selection accepts, best first. */
function choicesOf({ manifest, locale, representation, codings }: Selection): Choice[] {
  const bodies = manifest.locales[locale]?.bodies[representation];
  return codings.flatMap((coding) => {
    const body = bodies?.[coding];
    return body === undefined ? [] : [{ manifest, coding, body }];
  });
}

function toOpened(
  { manifest, coding, body }: Choice,
  { locale, representation }: Selection,
  content: Blob,
): Opened | undefined {
  const entry = manifest.locales[locale];
  return entry && { manifest, locale, entry, representation, coding, body, content };
}
