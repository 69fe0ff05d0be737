import type { AnyCoding } from "../catalog/find-body.ts";
import type { Body, Manifest } from "../catalog/manifest.ts";
import type { CatalogCopies, Copy, Replica } from "./catalog-store.ts";

export interface ReaderDependencies {
  readonly store: CatalogCopies;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Keeps the current request's context alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Logs a copy that could not be used. */
  readonly report: (event: string, detail: string) => void;
  /** Makes the pipe of a body whose segments are not joined. */
  readonly createPipe: CreatePipe;
  readonly manifestFreshMs: number;
  readonly cacheMaxBytes: number;
}

/** The bytes of a body. */
export interface BodyContent {
  readonly size: number;
  /** Streams the bytes from the start, each time that it is called. */
  stream(): ReadableStream<Uint8Array>;
}

/** Makes a pipe for `bytes` bytes, so that the runtime can send the length before the content. */
export type CreatePipe = (bytes: number) => ReadableWritablePair<Uint8Array, Uint8Array>;

/** A published body, with its coding. */
export interface WantedBody {
  readonly body: Body;
  readonly coding: AnyCoding;
}

/** The verified bytes of a body. */
export interface Loaded {
  readonly content: BodyContent;
  readonly origin: Origin;
}

/** Where the bytes of a body came from: the farthest place, if there are several. */
export type Origin = "memory" | Replica;

export type CurrentResult =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: "nothing_published" }
  /** `damage` says what is wrong with the manifest that a store has. */
  | { readonly ok: false; readonly reason: "unavailable"; readonly damage?: string };

export type OpenResult =
  | ({ readonly ok: true } & Loaded)
  | { readonly ok: false; readonly reason: "unavailable" | "data_loss" };

/** The part of the catalog that is in memory. Nothing here waits. */
export interface CatalogMemory {
  /**
   * Returns the current version, or undefined if it is to be awaited from `current`. Starts a
   * background look-up if the version is no longer fresh.
   */
  cachedCurrent(): Manifest | undefined;
  /** Returns the cached bytes of a body, or undefined. */
  cachedContent(body: Body): BodyContent | undefined;
}

/** Reads stored blobs. Never rejects. */
export interface BlobReader {
  /** Returns a blob, from memory if it is cached. */
  blob(sha256: string): Promise<Copy<Blob>>;
}

/** Reads the published catalog. Store faults are values: it never rejects. */
export interface CatalogReader {
  /**
   * Returns the current version. Reads no store while the cached one is fresh. Waits for a look-up
   * if nobody has looked for a while.
   */
  current(): Promise<CurrentResult>;
  /** Returns the current version as the store has it, where another place may know a newer one. */
  newest(): Promise<CurrentResult>;
  /** Finds a retained version besides the current one; `missing` if there is none. */
  findOlder(isWanted: (manifest: Manifest) => boolean): Promise<Copy<Manifest>>;
  /** Whether R2 lists the manifest of a generation, as it does of each retained one; or cannot say. */
  isListed(generation: number): Promise<boolean>;
  /** Returns the bytes of a body, from memory if they are cached. */
  open(wanted: WantedBody): Promise<OpenResult>;
}
