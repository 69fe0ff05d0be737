import { useCallback, useEffect, useState } from "preact/hooks";
import { type CallFacts, type CallFailure, type CallOutcome, callService } from "./call.ts";
import { type CatalogIndex, indexCatalog } from "./catalog-index.ts";
import type { CallSettings } from "./permalink.ts";
import { createSearchIndex, type SearchIndex } from "./search.ts";

/** The catalog of an answer with its indexes. */
interface LoadedCatalog {
  readonly catalog: CatalogIndex;
  readonly search: SearchIndex;
  /** Locale of the names. */
  readonly locale: string;
}

interface CallState {
  readonly isCalling: boolean;
  /** State of the last call. */
  readonly facts: CallFacts | undefined;
  readonly failure: CallFailure | undefined;
  /** Result of the last successful call. */
  readonly loaded: LoadedCatalog | undefined;
}

const NOTHING_YET: CallState = {
  isCalling: true,
  facts: undefined,
  failure: undefined,
  loaded: undefined,
};

function afterCall(before: CallState, outcome: CallOutcome): CallState {
  const { facts } = outcome;
  if (!outcome.ok) return { ...before, isCalling: false, facts, failure: outcome.failure };
  const catalog = indexCatalog(outcome.answer);
  const locale = facts.exchange?.headers.get("content-language") ?? facts.settings.locale;
  const loaded = { catalog, search: createSearchIndex(catalog), locale };
  return { isCalling: false, facts, failure: undefined, loaded };
}

/** Calls the service when the settings change and on request. */
export function useCall(settings: CallSettings): [CallState, () => void] {
  const [state, setState] = useState(NOTHING_YET);
  const [again, setAgain] = useState(0);
  const { protocol, encoding, locale } = settings;
  useEffect(() => {
    const superseded = new AbortController();
    const { signal } = superseded;
    setState((before) => ({ ...before, isCalling: true }));
    const call = async () => {
      const options = { signal, revalidate: again > 0 };
      const outcome = await callService({ protocol, encoding, locale }, options);
      if (!signal.aborted) setState((before) => afterCall(before, outcome));
    };
    void call();
    return () => superseded.abort();
  }, [protocol, encoding, locale, again]);
  return [state, useCallback(() => setAgain((count) => count + 1), [])];
}
