import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/hash.ts";
import type { Body, Coding, Manifest, Segment } from "../catalog/manifest.ts";
import { ByteCache } from "./byte-cache.ts";
import type {
  Caller,
  CatalogMemory,
  CatalogReader,
  CurrentResult,
  Opened,
  OpenResult,
  Selection,
} from "./catalog-reader.ts";
import type { Copy, Replica } from "./catalog-store.ts";
import { abortable } from "./deadline.ts";
import { type Leave, LoadGate } from "./load-gate.ts";
import { ManifestMemo, type MemoDependencies } from "./manifest-memo.ts";
import { RecentFailures } from "./recent-failures.ts";
import { SharedLoads } from "./shared-loads.ts";

/** How long a body that a store could not give is not asked of that store again. */
const UNREADABLE_FOR_MS = 2_000;
/** Bytes of bodies that may be in the making at once, besides those that are held. */
export const JOINING_MAX_BYTES = 16 * 1024 * 1024;

export interface ReaderDependencies extends MemoDependencies {
  readonly cacheMaxBytes: number;
}

/** A selection, and whose signal ends the wait for it. */
interface Wanted extends Selection, Caller {}

/** A published body that a request accepts, and the version that it is of. */
interface Choice {
  readonly manifest: Manifest;
  readonly coding: Coding;
  readonly body: Body;
}

/**
 * Reads the catalog from memory, else from KV, else from what serves best until KV does again: what
 * the isolate still holds, the R2 copy, another coding from either store, the previous version. A
 * blob of the wrong hash is never used. One reader for each isolate.
 */
export class CachedCatalogReader implements CatalogReader, CatalogMemory {
  readonly #deps: ReaderDependencies;
  readonly #cache: ByteCache;
  readonly #memo: ManifestMemo;
  readonly #loads: SharedLoads<Copy<Blob>>;
  readonly #gate: LoadGate;
  readonly #failures: RecentFailures<Copy<Blob>>;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
    this.#cache = new ByteCache(deps.cacheMaxBytes);
    this.#memo = new ManifestMemo(deps);
    this.#loads = new SharedLoads(deps.waitUntil, deps.now);
    this.#gate = new LoadGate(JOINING_MAX_BYTES, deps.now);
    this.#failures = new RecentFailures(UNREADABLE_FOR_MS, deps.now);
  }

  heldCurrent(): CurrentResult | undefined {
    return this.#memo.held();
  }

  heldContent({ sha256 }: Body): Blob | undefined {
    return this.#cache.get(sha256);
  }

  async current(caller: Caller): Promise<CurrentResult> {
    return this.heldCurrent() ?? abortable(caller.signal, this.#memo.load());
  }

  async open(selection: Selection, caller: Caller): Promise<OpenResult> {
    const choices = choicesOf(selection);
    const held = this.#findHeld(choices.slice(0, 1), selection);
    if (held !== undefined) return { ok: true, opened: held };
    const wanted = { ...selection, signal: caller.signal };
    return abortable(caller.signal, this.#load(wanted, choices));
  }

  async #load(selection: Wanted, choices: readonly Choice[]): Promise<OpenResult> {
    const faults = new Set<string>();
    const opened =
      (await this.#try(["kv"], choices.slice(0, 1), selection, faults)) ??
      this.#lastGood(selection, choices) ??
      (await this.#try(["kv", "r2"], choices, selection, faults)) ??
      (await this.#tryPrevious(selection, faults));
    if (opened !== undefined) return { ok: true, opened };
    return { ok: false, reason: faults.has("unreadable") ? "unavailable" : "data_loss" };
  }

  /** What this isolate holds in another coding or of the version before, while R2 is asked behind. */
  #lastGood(selection: Wanted, choices: readonly Choice[]): Opened | undefined {
    const before = this.#memo.previous;
    const opened = this.#findHeld(
      [...choices, ...(before === undefined ? [] : choicesOf({ ...selection, manifest: before }))],
      selection,
    );
    const wanted = choices[0];
    if (opened !== undefined && wanted !== undefined)
      this.#deps.waitUntil(
        this.#loadBody("r2", wanted.body, selection.signal).catch(() => undefined),
      );
    return opened;
  }

  async #tryPrevious(selection: Wanted, faults: Set<string>): Promise<Opened | undefined> {
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

  /** The first choice that can be had, each asked of the replicas in turn. */
  async #try(
    replicas: readonly Replica[],
    choices: readonly Choice[],
    selection: Wanted,
    faults: Set<string>,
  ): Promise<Opened | undefined> {
    for (const choice of choices) {
      const held = this.#findHeld([choice], selection);
      if (held !== undefined) return held;
      for (const replica of replicas) {
        const copy = await this.#loadBody(replica, choice.body, selection.signal);
        if (copy.ok) return toOpened(choice, selection, copy.value);
        faults.add(copy.fault);
      }
    }
    return undefined;
  }

  #findHeld(choices: readonly Choice[], selection: Selection): Opened | undefined {
    for (const choice of choices) {
      const content = this.#cache.get(choice.body.sha256);
      if (content !== undefined) return toOpened(choice, selection, content);
    }
    return undefined;
  }

  /**
   * A body from a store: one load for all requests that want it meanwhile, and none soon after it
   * failed. Waits while as many bytes as may be are in the making; rejects if the signal aborts
   * before its turn comes.
   */
  async #loadBody(replica: Replica, body: Body, signal: AbortSignal): Promise<Copy<Blob>> {
    const key = `${replica} ${body.sha256}`;
    const joined = () => this.#loads.join(key, () => this.#loadBody(replica, body, signal));
    const underWay = this.#failures.get(key) ?? joined();
    if (underWay !== undefined) return underWay;
    const leave = this.#gate.tryEnter(body.bytes) ?? (await this.#waitForTurn(body, signal));
    const held = this.#cache.get(body.sha256);
    const found = held && { ok: true as const, value: held };
    const meanwhile = found ?? this.#failures.get(key) ?? joined();
    if (meanwhile !== undefined) {
      leave();
      return meanwhile;
    }
    return this.#loads.load(key, async () => {
      try {
        const copy = await this.#joinBody(replica, body);
        if (!copy.ok) this.#failures.add(key, copy);
        return copy;
      } finally {
        leave();
      }
    });
  }

  /** Kept alive, since a turn that comes when nobody takes it is lost to those behind. */
  #waitForTurn({ bytes }: Body, signal: AbortSignal): Promise<Leave> {
    const turn = this.#gate.enter(bytes, signal);
    this.#deps.waitUntil(turn.catch(() => undefined));
    return turn;
  }

  /** A body joined out of its segments. */
  async #joinBody(replica: Replica, body: Body): Promise<Copy<Blob>> {
    const copies = await Promise.all(
      body.segments.map((segment) => this.#loadSegment(replica, segment)),
    );
    const parts: Blob[] = [];
    for (const copy of copies) {
      if (!copy.ok) return copy;
      parts.push(copy.value);
    }
    const whole = new Blob(parts);
    if (sha256Hex(new Uint8Array(await whole.arrayBuffer())) !== body.sha256) {
      const detail = `body ${body.sha256}: its segments join to something else`;
      this.#deps.report("body_corrupt", detail);
      return { ok: false, fault: "corrupt", detail };
    }
    this.#cache.set(body.sha256, whole);
    return { ok: true, value: whole };
  }

  async #loadSegment(replica: Replica, segment: Segment): Promise<Copy<Blob>> {
    if ("inline" in segment)
      return { ok: true, value: new Blob([Buffer.from(segment.inline, "base64")]) };
    const held = this.#cache.get(segment.blob);
    if (held !== undefined) return { ok: true, value: held };
    const copy = await this.#deps.store.readBlob(replica, segment.blob);
    if (!copy.ok) {
      this.#deps.report(`blob_${copy.fault}`, copy.detail);
      return copy;
    }
    const value = new Blob([copy.value]);
    this.#cache.set(segment.blob, value);
    return { ok: true, value };
  }
}

/** The published bodies that a selection accepts, best first. */
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
