/** What a handle calls, in its own thread or in a worker. */
import type { CatalogError, CatalogFailure, OpenOptions } from "./api.ts";
import type { NearAirport, NearestArgument } from "./nearest.ts";
import type { SearchArgument } from "./options.ts";
import type { CatalogCopy } from "./read-answer.ts";
import type { Suggestion } from "./suggestion.ts";

/** `OpenOptions`, as far as a worker can be given them. */
export type WorkerOptions = Omit<OpenOptions, "folder" | "startWorker" | "fetch" | "signal">;

/** Those of what is open, by name. */
export interface CoreCalls {
  readonly search: (typed: SearchArgument) => readonly Suggestion[];
  readonly get: (key: string) => Suggestion | undefined;
  readonly nearest: (near: NearestArgument) => readonly NearAirport[];
  readonly setLocale: (locale: string) => void;
  readonly refresh: (nothing: null) => void;
  /** Returns what `unpackCatalog` takes. */
  readonly pack: (nothing: null) => string;
}

/** Those of a worker. */
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

/** Something open, in this thread or in a worker. */
export interface Core<C extends keyof Calls = keyof CoreCalls> {
  readonly state: State<CatalogError>;
  readonly call: <One extends C>(call: One, argument: Argument<One>) => Promise<Answer<One>>;
  /** Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly close: () => void;
}

/** What its handle says of it. */
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
