import type { CatalogFailure, OpenOptions } from "./api.ts";
import type { Suggestion } from "./suggestion.ts";

/** `OpenOptions`, as far as a worker can be given them. */
export type WorkerOptions = Pick<OpenOptions, "baseUrl" | "locale" | "timeoutMs">;

/** The calls that the page makes of the worker, by name. */
export interface Calls {
  readonly open: (options: WorkerOptions) => void;
  readonly search: (typed: {
    readonly typed: string;
    readonly limit?: number;
  }) => readonly Suggestion[];
  /** Returns what `unpackCatalog` takes. */
  readonly pack: (nothing: null) => string;
  readonly setLocale: (locale: string) => void;
  readonly refresh: (nothing: null) => void;
}

export type Argument<C extends keyof Calls> = Parameters<Calls[C]>[0];
export type Answer<C extends keyof Calls> = ReturnType<Calls[C]>;

export type ToWorker = {
  readonly [C in keyof Calls]: {
    readonly id: number;
    readonly call: C;
    readonly argument: Argument<C>;
  };
}[keyof Calls];

/** What the page knows of the worker's catalog. */
export interface State {
  readonly version: number;
  readonly language: string;
}

export type FromWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: CatalogFailure }
  | { readonly kind: "change"; readonly state: State };
