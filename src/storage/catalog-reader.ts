import type { Body, Coding, LocaleEntry, Manifest, Representation } from "../catalog/manifest.ts";

/** Which body a request wants: `codings` are those it accepts, best first. */
export interface Selection {
  readonly manifest: Manifest;
  readonly locale: string;
  readonly representation: Representation;
  readonly codings: readonly Coding[];
}

/** A body with its bytes, verified, and the version that it belongs to. */
export interface Opened {
  /** The version that `bytes` belong to: older than the selected one when that could not be read. */
  readonly manifest: Manifest;
  readonly locale: string;
  readonly entry: LocaleEntry;
  readonly representation: Representation;
  readonly coding: Coding;
  readonly body: Body;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type CurrentResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: "nothing_published" | "unavailable" };

export type OpenResult =
  | { readonly ok: true; readonly opened: Opened }
  | { readonly ok: false; readonly reason: "unavailable" | "data_loss" };

/** Reads the published catalog. Never throws for a fault of a store; rejects if `signal` aborts. */
export interface CatalogReader {
  /** The current version. Touches no store while the held one is fresh. */
  current(signal: AbortSignal): Promise<CurrentResult>;
  /** The bytes of a body, from memory where they are held. */
  open(selection: Selection, signal: AbortSignal): Promise<OpenResult>;
}
