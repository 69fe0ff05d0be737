/** The calls of a handle, which its own thread or a worker answers. */
import type { CatalogError, CatalogFailure, OpenOptions } from "./api.ts";
import type { NearAirport, NearestArgument } from "./nearest.ts";
import type { SearchArgument } from "./options.ts";
import type { CatalogCopy } from "./read-answer.ts";
import type { Suggestion } from "./suggestion.ts";

/** The part of `OpenOptions` that can be sent to a worker. */
export type WorkerOptions = Omit<OpenOptions, "folder" | "startWorker" | "fetch" | "signal">;

/** The calls of an open catalog or search. */
export interface CoreCalls {
  readonly search: (typed: SearchArgument) => readonly Suggestion[];
  readonly get: (key: string) => Suggestion | undefined;
  readonly nearest: (near: NearestArgument) => readonly NearAirport[];
  readonly setLocale: (locale: string) => void;
  readonly refresh: (nothing: null) => void;
  /** Returns what `unpackCatalog` takes. */
  readonly pack: (nothing: null) => string;
}

/** The calls of a worker. */
export interface Calls extends CoreCalls {
  readonly open: (options: WorkerOptions) => void;
  readonly openSearch: (options: WorkerOptions) => void;
  /** In the explorer: fetches what `show` and, unless `lazyNames`, `search` need besides the answer. */
  readonly prepare: (options: WorkerOptions) => void;
  /**
   * In the explorer: takes an answer that the page has fetched; returns what `unpackCatalog` takes. The
   * next search makes its index.
   */
  readonly show: (answer: {
    readonly options: WorkerOptions;
    readonly copy: CatalogCopy;
    /** Only a whole answer is searched. */
    readonly isWhole: boolean;
  }) => string;
  readonly close: (nothing: null) => void;
}

export type Argument<C extends keyof Calls> = Parameters<Calls[C]>[0];
export type Answer<C extends keyof Calls> = ReturnType<Calls[C]>;

/** An open catalog or search, in this thread or in a worker. */
export interface Core<C extends keyof Calls = keyof CoreCalls> {
  readonly state: State<CatalogError>;
  readonly call: <One extends C>(call: One, argument: Argument<One>) => Promise<Answer<One>>;
  /** Returns a function that ends this. Each call passes another function, which throws nothing. */
  readonly onChange: (listener: () => void) => () => void;
  readonly close: () => void;
}

/** The state that a handle shows. */
export interface State<Failure = CatalogFailure> {
  readonly version: number;
  readonly language: string;
  /** In ms since 1970. */
  readonly lookedAt: number;
  readonly lastError: Failure | null;
}

export type ToWorker = {
  readonly [C in keyof Calls]: {
    readonly id: number;
    /** Which of the catalogs, by a number that the page chooses. */
    readonly catalog: number;
    readonly call: C;
    readonly argument: Argument<C>;
  };
}[keyof Calls];

export type FromWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: CatalogFailure }
  | { readonly kind: "change"; readonly catalog: number; readonly state: State };
