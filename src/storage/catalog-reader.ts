import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";
import type { CatalogCopies } from "./catalog-store.ts";

/** What a reader works with. */
export interface ReaderDependencies {
  readonly store: CatalogCopies;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Keeps the present request's context alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Tells the log of a copy that could not be used. */
  readonly report: (event: string, detail: string) => void;
  readonly manifestFreshMs: number;
  readonly cacheMaxBytes: number;
}

/** Which body a request wants: `codings` are those it accepts, best first. */
export interface Selection {
  readonly manifest: Manifest;
  readonly locale: string;
  readonly representation: Representation;
  readonly codings: readonly Coding[];
}

/** A body with its content, verified, and the version that it belongs to. */
export interface Opened {
  /** The version that `content` belongs to: older than the selected one when that could not be read. */
  readonly manifest: Manifest;
  readonly locale: string;
  readonly entry: LocaleEntry;
  readonly representation: Representation;
  readonly coding: Coding;
  readonly body: Body;
  /** The bytes of `body`. A blob's stream is sent without being copied, which bytes are not. */
  readonly content: Blob;
}

export type CurrentResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: "nothing_published" | "unavailable" };

export type OpenResult =
  | { readonly ok: true; readonly opened: Opened }
  | { readonly ok: false; readonly reason: "unavailable" | "data_loss" };

/** On whose behalf a reader waits. The signal is looked at only if a store must be asked. */
export interface Caller {
  readonly signal: AbortSignal;
}

/** What is in memory, to be had without waiting. */
export interface CatalogMemory {
  /**
   * The current version, looking for a newer one behind the answer where it is no longer fresh;
   * undefined where `current` would wait for a store.
   */
  heldCurrent(): CurrentResult | undefined;
  /** The bytes of a body; undefined where they are not held. */
  heldContent(body: Body): Blob | undefined;
}

/** Reads the published catalog. Never throws for a fault of a store; rejects if the caller's signal aborts. */
export interface CatalogReader {
  /** The current version. Touches no store while the held one is fresh. */
  current(caller: Caller): Promise<CurrentResult>;
  /** The bytes of a body, from memory where they are held. */
  open(selection: Selection, caller: Caller): Promise<OpenResult>;
}
