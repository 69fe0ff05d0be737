import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import workerUrl from "generated:worker.js";
import { type Catalog, type Place, unpackCatalog } from "../../client/src/catalog.ts";
import { describeAnswer } from "../../client/src/read-answer.ts";
import type { CatalogCopy } from "../../client/src/refresh.ts";
import { SEARCH_LIMIT } from "../../client/src/search/search.ts";
import { listPlaces } from "../../client/src/search/search-index.ts";
import type { Suggestion } from "../../client/src/suggestion.ts";
import { linkOf, type RemoteCore } from "../../client/src/worker-link.ts";
import { trustedUrl } from "../shared/trusted-url.ts";
import { type CallFailure, callService, toFailure } from "./call.ts";
import { untilIdle } from "./idle.ts";
import type { CallSettings } from "./permalink.ts";
import { type Exchange, measureTransfer, type Progress, type Transfer } from "./wire.ts";

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
  /** The answer in protobuf. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A place that a search has found. */
export interface Result extends Suggestion {
  readonly place: Place;
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
}

export interface CatalogPort extends CatalogState {
  readonly callAgain: () => void;
  readonly search: (typed: string) => void;
  /** Called when somebody is about to search. */
  readonly prepareSearch: () => void;
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
};

/** Names in other languages are fetched once somebody is about to search. */
const OPTIONS = { baseUrl: window.location.origin, lazyNames: true };

/** Calls the service when the settings change and on request, and searches the answer. */
export function useCatalog({ protocol, encoding, locale }: CallSettings): CatalogPort {
  const [state, setState] = useState(NOT_CALLED);
  const [again, setAgain] = useState(0);
  const change = (part: Partial<CatalogState>) => setState((before) => ({ ...before, ...part }));
  const typed = useRef("");
  const places = useRef<() => ReadonlyMap<string, Place>>(undefined);
  const searchAgain = async () => {
    const wanted = typed.current;
    // Nobody waits for the index before they type.
    if (wanted === "") await untilIdle();
    if (wanted !== typed.current) return;
    if (places.current === undefined) return change({ found: { typed: wanted, results: null } });
    const searching = worker.call("search", { typed: wanted, limit: SEARCH_LIMIT });
    // It needs names that cannot be fetched.
    const suggestions = await searching.catch(() => []);
    if (wanted !== typed.current) return;
    const results = suggestions.flatMap((suggestion) => {
      const place = places.current?.().get(suggestion.id);
      return place ? [{ ...suggestion, place }] : [];
    });
    change({ found: { typed: wanted, results } });
  };
  const worker = useMemo(() => {
    const linked = linkOf(startWorker).add(CALL_TIMEOUT_MS);
    linked.onChange(() => void searchAgain());
    void linked.call("prepare", { ...OPTIONS, locale });
    return linked;
  }, []);

  useEffect(() => {
    const superseded = new AbortController();
    change({ isCalling: true, progress: undefined });
    void makeCall({
      settings: { protocol, encoding, locale },
      signal: superseded.signal,
      revalidate: again > 0,
      worker,
      change,
    });
    return () => superseded.abort();
  }, [protocol, encoding, locale, again]);

  const { catalog } = state;
  useEffect(() => {
    if (catalog?.isWhole !== true) return;
    // Made for the first results, which is soon enough.
    let byId: ReadonlyMap<string, Place> | undefined;
    places.current = () =>
      (byId ??= new Map(listPlaces(catalog).map((place) => [place.id, place])));
    void searchAgain();
  }, [catalog]);
  return {
    ...state,
    callAgain: useCallback(() => setAgain((count) => count + 1), []),
    search: useCallback((text: string) => {
      typed.current = text;
      void searchAgain();
    }, []),
    prepareSearch: useCallback(
      () => void worker.call("prepare", { ...OPTIONS, lazyNames: false }),
      [],
    ),
  };
}

interface CallOptions {
  readonly settings: CallSettings;
  readonly signal: AbortSignal;
  readonly revalidate: boolean;
  readonly worker: RemoteCore;
  readonly change: (part: Partial<CatalogState>) => void;
}

/** Makes a call, and shows what comes of it until another supersedes it. */
async function makeCall({
  settings,
  signal,
  revalidate,
  worker,
  change: changeState,
}: CallOptions): Promise<void> {
  const change: typeof changeState = (part) => {
    if (!signal.aborted) changeState(part);
  };
  const startedAt = performance.now();
  /** Settles once all that came is shown. To join the start and the whole at once shows both late. */
  let shown: Promise<void> = Promise.resolve();
  const join = async (copy: CatalogCopy, isWhole: boolean): Promise<LoadedCatalog> => {
    const { bytes, language, version } = copy;
    const packed = await worker.call("show", { options: OPTIONS, copy, isWhole });
    const locale = language || "en";
    return { ...(await unpackCatalog(packed)), bytes, version, isWhole, locale };
  };
  const { exchange, copy, ...called } = await callService(settings, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
    locale: settings.locale,
    revalidate,
    onProgress: (progress) => change({ progress }),
    onBeginning: ({ headers, body }) => {
      const beginning = { ...describeAnswer(new Headers(headers)), bytes: new Uint8Array(body) };
      shown = join(beginning, false).then((catalog) => change({ catalog }));
    },
  });
  await shown.catch(() => undefined);
  if (signal.aborted) return;
  let { failure } = called;
  const catalog =
    copy &&
    (await join(copy, true).catch((cause: unknown) => {
      failure = { ...toFailure(cause), answered: true };
    }));
  const totalMs = performance.now() - (exchange?.startedAt ?? startedAt);
  const facts = { exchange, totalMs, transfer: undefined };
  change({ ...(catalog && { catalog }), failure, facts, isCalling: exchange !== undefined });
  if (exchange === undefined) return;
  const transfer = exchange.isStored ? undefined : await measureTransfer(exchange);
  change({ facts: { exchange, totalMs, transfer }, isCalling: false });
}

function startWorker(): Worker {
  return new Worker(trustedUrl(workerUrl), { type: "module" });
}
