import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import workerUrl from "generated:catalog-worker.js";
import { trustedUrl } from "../shared/trusted-url.ts";
import type { CallFailure } from "./failure-notice.tsx";
import { type Catalog, type Place, unpackCatalog } from "../../client/src/catalog.ts";
import type { CallSettings } from "./permalink.ts";
import { listPlaces } from "../../client/src/search/search-index.ts";
import {
  type Exchange,
  measureTransfer,
  type Progress,
  sendRequest,
  type Transfer,
} from "./wire.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** Facts about a call for people. */
export interface CallFacts {
  readonly exchange: Exchange | undefined;
  readonly transfer: Transfer | undefined;
  /** Time from the call to the joined catalog. */
  readonly totalMs: number;
}

/** The catalog of an answer, with the locale of its names and its generation. */
export interface LoadedCatalog extends Catalog {
  readonly locale: string;
  readonly version: number;
  /** Whether the regions are in it; they come last. */
  readonly isWhole: boolean;
}

/** A place that a search has found. */
export interface Result {
  readonly place: Place;
  /** Whether it is an airport that is listed under its city. */
  readonly isUnderCity: boolean;
}

interface CatalogState {
  readonly isCalling: boolean;
  readonly progress: Progress | undefined;
  /** Of the last call. */
  readonly facts: CallFacts | undefined;
  readonly failure: CallFailure | undefined;
  /** Of the last successful call. */
  readonly catalog: LoadedCatalog | undefined;
  /** The places that the last search has found; null while there is nothing to search. */
  readonly found: { readonly typed: string; readonly results: readonly Result[] | null };
  /** Those of the place that was asked for last. */
  readonly messages: Pick<Extract<FromWorker, { kind: "shown" }>, "id" | "messages"> | undefined;
}

export interface CatalogPort extends CatalogState {
  readonly callAgain: () => void;
  readonly search: (typed: string) => void;
  /** Called when somebody is about to search. */
  readonly prepareSearch: () => void;
  readonly askMessages: (place: Place) => void;
}

/** Deadline of a call. */
const CALL_TIMEOUT_MS = 60_000;

const NOT_CALLED: CatalogState = {
  isCalling: true,
  progress: undefined,
  facts: undefined,
  failure: undefined,
  catalog: undefined,
  found: { typed: "", results: null },
  messages: undefined,
};

/** Calls the service when the settings change and on request, and searches the answer. */
export function useCatalog({ protocol, encoding, locale }: CallSettings): CatalogPort {
  const [state, setState] = useState(NOT_CALLED);
  const [again, setAgain] = useState(0);
  const worker = useMemo(startWorker, []);
  const calls = useRef(0);
  const tell = useCallback((message: ToWorker) => worker.postMessage(message, {}), [worker]);
  const change = (part: Partial<CatalogState>) => setState((before) => ({ ...before, ...part }));

  useEffect(() => {
    const superseded = new AbortController();
    const call = ++calls.current;
    const current = new Call(call, {
      signal: superseded.signal,
      locale,
      revalidate: again > 0,
      tell,
      change,
    });
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => current.hear(data), {
      signal: superseded.signal,
    });
    change({ isCalling: true, progress: undefined });
    tell({ kind: "call", call, settings: { protocol, encoding, locale } });
    return () => superseded.abort();
  }, [protocol, encoding, locale, again]);

  const places = useMemo(() => state.catalog && listPlaces(state.catalog), [state.catalog]);
  const lastPlaces = useRef(places);
  lastPlaces.current = places;
  useEffect(() => {
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === "shown") change({ messages: data });
      if (data.kind !== "found") return;
      const list = lastPlaces.current ?? [];
      const results = data.found?.flatMap(({ position, isUnderCity }) => {
        const place = list[position];
        return place ? { place, isUnderCity } : [];
      });
      change({ found: { typed: data.typed, results: results ?? null } });
    });
  }, []);
  return {
    ...state,
    callAgain: useCallback(() => setAgain((count) => count + 1), []),
    search: useCallback((typed: string) => tell({ kind: "search", typed }), [tell]),
    askMessages: useCallback(
      ({ kind, id }: Place) => tell({ kind: "show", place: { kind, id } }),
      [tell],
    ),
    prepareSearch: useCallback(() => tell({ kind: "prepare" }), [tell]),
  };
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly locale: string;
  readonly revalidate: boolean;
  readonly tell: (message: ToWorker) => void;
  readonly change: (part: Partial<CatalogState>) => void;
}

/** One call: sends what the worker's client asks for, and shows what comes of it. */
class Call {
  readonly #number: number;
  readonly #options: CallOptions;
  #startedAt = performance.now();
  #exchange: Exchange | undefined;
  /** Settles once all that came is shown. To join the beginning and the whole at once shows both late. */
  #shown: Promise<void> = Promise.resolve();

  constructor(number: number, options: CallOptions) {
    this.#number = number;
    this.#options = options;
  }

  hear(message: FromWorker): void {
    if (message.kind === "found" || message.kind === "shown") return;
    if (message.call !== this.#number) return;
    if (message.kind === "send") void this.#send(message.request);
    else if (message.kind === "failed") void this.#end({ failure: message.failure });
    else this.#shown = this.#shown.then(() => this.#load(message));
  }

  async #load(message: Extract<FromWorker, { kind: "loaded" }>): Promise<void> {
    const { locale, version, isWhole } = message;
    const catalog = { ...(await unpackCatalog(message.catalog)), locale, version, isWhole };
    if (isWhole) return this.#end({ catalog, failure: undefined });
    const { signal, change } = this.#options;
    if (!signal.aborted) change({ catalog });
  }

  async #send(request: Parameters<typeof sendRequest>[0]): Promise<void> {
    const { signal, locale, revalidate, tell, change } = this.#options;
    try {
      const { exchange, answer } = await sendRequest(request, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
        locale,
        revalidate,
        onProgress: (progress) => !signal.aborted && change({ progress }),
        onBeginning: (beginning) => tell({ kind: "began", call: this.#number, beginning }),
      });
      this.#exchange = exchange;
      this.#startedAt = exchange.startedAt;
      tell({ kind: "answered", call: this.#number, answer });
    } catch {
      tell({ kind: "answered", call: this.#number, answer: null });
    }
  }

  async #end(part: Partial<CatalogState>): Promise<void> {
    const { signal, change } = this.#options;
    if (signal.aborted) return;
    const exchange = this.#exchange;
    const totalMs = performance.now() - this.#startedAt;
    change({
      ...part,
      facts: { exchange, totalMs, transfer: undefined },
      isCalling: exchange !== undefined,
    });
    if (exchange === undefined) return;
    const transfer = exchange.isStored ? undefined : await measureTransfer(exchange);
    if (!signal.aborted) change({ facts: { exchange, totalMs, transfer }, isCalling: false });
  }
}

function startWorker(): Worker {
  return new Worker(trustedUrl(workerUrl), { type: "module" });
}
