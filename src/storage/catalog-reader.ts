import type { AnyCoding, Body } from "../parts/compose.ts";
import type { Manifest } from "../parts/manifest.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { CatalogStore, Replica } from "./catalog-store.ts";

export interface ReaderDependencies {
  readonly store: Pick<
    CatalogStore,
    "readManifest" | "readGeneration" | "listGenerations" | "readBlob"
  >;
  readonly now: () => EpochMs;
  /** Keeps the current request's context alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Logs a copy that could not be used. */
  readonly report: (event: string, detail: string) => void;
  /** Makes the pipe of a body whose pieces are not joined. */
  readonly createPipe: CreatePipe;
  readonly manifestFreshMs: DurationMs;
  readonly cacheMaxBytes: number;
}

export interface BodyContent {
  readonly size: number;
  /** Streams the bytes from the start, each time that it is called. */
  stream(): ReadableStream<Uint8Array>;
}

/** Makes a pipe for `bytes` bytes, so that the runtime can send the length before the content. */
export type CreatePipe = (bytes: number) => ReadableWritablePair<Uint8Array, Uint8Array>;

/** A body to open, with its coding. */
export interface BodyToOpen {
  readonly body: Body;
  readonly coding: AnyCoding;
}

export interface Loaded {
  readonly content: BodyContent;
  readonly origin: Origin;
}

/** The origin of the bytes of a body: the farthest place, if there are several. */
export type Origin = "memory" | Replica;

export type CurrentResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: "nothing_published" }
  /** `damage` describes the problem of a store's manifest. */
  | { readonly ok: false; readonly reason: "unavailable"; readonly damage?: string };

export type OpenResult =
  | ({ readonly ok: true } & Loaded)
  | { readonly ok: false; readonly reason: "unavailable" | "data_loss" };
