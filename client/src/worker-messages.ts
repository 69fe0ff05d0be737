import type { CatalogFailure, OpenOptions } from "./api.ts";
import type { Position } from "./distance.ts";
import type { NearAirport, NearestOptions } from "./nearest.ts";
import type { CatalogCopy } from "./refresh.ts";
import type { Suggestion } from "./suggestion.ts";

/** `OpenOptions`, as far as a worker can be given them. */
export type WorkerOptions = Omit<OpenOptions, "folder" | "startWorker" | "fetch">;

/** The calls that the page makes of one of the worker's catalogs, by name. */
export interface Calls {
  readonly open: (options: WorkerOptions) => void;
  readonly openSearch: (options: WorkerOptions) => void;
  /** Fetches what `show` and, unless `lazyNames`, `search` need besides the answer. */
  readonly prepare: (options: WorkerOptions) => void;
  /**
   * Takes an answer that the page has fetched; returns what `unpackCatalog` takes. The next search
   * makes its index.
   */
  readonly show: (answer: {
    readonly options: WorkerOptions;
    readonly copy: CatalogCopy;
    /** Only a whole answer is searched. */
    readonly isWhole: boolean;
  }) => string;
  readonly search: (typed: {
    readonly typed: string;
    readonly limit?: number;
  }) => readonly Suggestion[];
  readonly nearest: (near: {
    readonly position: Position;
    readonly options?: NearestOptions;
  }) => readonly NearAirport[];
  /** Returns what `unpackCatalog` takes. */
  readonly pack: (nothing: null) => string;
  readonly setLocale: (locale: string) => void;
  readonly refresh: (nothing: null) => void;
  readonly close: (nothing: null) => void;
}

export type Argument<C extends keyof Calls> = Parameters<Calls[C]>[0];
export type Answer<C extends keyof Calls> = ReturnType<Calls[C]>;

export type ToWorker = {
  readonly [C in keyof Calls]: {
    readonly id: number;
    /** Which of the catalogs, by a number that the page chooses. */
    readonly catalog: number;
    readonly call: C;
    readonly argument: Argument<C>;
  };
}[keyof Calls];

/** What the page knows of a catalog in the worker. */
export interface State {
  readonly version: number;
  readonly language: string;
}

export type FromWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: CatalogFailure }
  | { readonly kind: "change"; readonly catalog: number; readonly state: State };
