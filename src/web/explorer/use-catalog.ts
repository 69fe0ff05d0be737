import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { CatalogError, type CatalogCopy, type CatalogFailure } from "../../../client/src/api.ts";
import type { Catalog, Place } from "../../../client/src/catalog.ts";
import { messageIn } from "./call-request.ts";
import type { CallFailure } from "./failure-notice.tsx";
import type { CallSettings } from "./permalink.ts";
import type { PlaceMessage } from "./place-messages.ts";
import { type Result, ShownCatalog } from "./shown-catalog.ts";
import {
  type Answer,
  type Exchange,
  measureTransfer,
  type Progress,
  sendCall,
  type Transfer,
} from "./wire.ts";

/** Facts about a call for people. */
export interface CallFacts {
  readonly exchange: Exchange | undefined;
  readonly transfer: Transfer | undefined;
  /** Time from the call to the joined catalog. */
  readonly totalMs: number;
  /** What this device has kept, where there was no answer. */
  readonly kept: LoadedCatalog | undefined;
}

/** The catalog of an answer, with the locale of its names and its generation. */
export interface LoadedCatalog extends Catalog {
  readonly locale: string;
  readonly version: number;
  /** Whether the regions are in it; they come last. */
  readonly isWhole: boolean;
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
  readonly messagesOf: (place: Place) => Promise<PlaceMessage[]>;
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

/** Calls the service when the settings change and on request, and searches the answer. */
export function useCatalog({ protocol, encoding, locale }: CallSettings): CatalogPort {
  const [state, setState] = useState(NOT_CALLED);
  const [again, setAgain] = useState(0);
  const typed = useRef("");
  const change = (part: Partial<CatalogState>) => setState((before) => ({ ...before, ...part }));
  const shown = useMemo(() => new ShownCatalog(), []);
  const search = useCallback((text: string) => {
    typed.current = text;
    const show = (results: readonly Result[] | null) =>
      typed.current === text && change({ found: { typed: text, results } });
    shown.search(text).then(show, (cause: unknown) => console.warn(cause));
  }, []);
  useEffect(() => shown.onChange(() => typed.current !== "" && search(typed.current)), []);

  useEffect(() => {
    const superseded = new AbortController();
    const { signal } = superseded;
    change({ isCalling: true, progress: undefined });
    void call(
      { protocol, encoding, locale },
      { shown, signal, revalidate: again > 0, change: (part) => signal.aborted || change(part) },
    );
    return () => superseded.abort();
  }, [protocol, encoding, locale, again]);

  return {
    ...state,
    callAgain: useCallback(() => setAgain((count) => count + 1), []),
    search,
    messagesOf: useCallback(async (place: Place) => {
      const { messagesIn } = await import("./place-messages.ts");
      return messagesIn(await shown.bytes(), place);
    }, []),
  };
}

interface CallOptions {
  readonly shown: ShownCatalog;
  readonly signal: AbortSignal;
  readonly revalidate: boolean;
  readonly change: (part: Partial<CatalogState>) => void;
}

/** Makes one call, and shows what comes of it. */
async function call(
  settings: CallSettings,
  { shown, signal, revalidate, change }: CallOptions,
): Promise<void> {
  const { locale } = settings;
  const calledAt = performance.now();
  /** To join the beginning and the whole at once shows both late. */
  let begun: Promise<void> | undefined;
  const sent = await sendCall(settings, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
    revalidate,
    onProgress: (progress) => change({ progress }),
    onBeginning: ({ headers }, bytes) => {
      const part = { ...describe(headers), bytes, sha256: "" };
      begun = shown.show(locale, part).then((catalog) => change({ catalog }));
    },
  }).catch(() => undefined); // the package says why
  if (signal.aborted) return;
  const { exchange } = sent ?? {};
  let part: Pick<CatalogState, "failure"> & Partial<CatalogState>;
  try {
    await begun;
    const catalog = await shown.show(
      locale,
      sent && copyOf(settings, sent),
      exchange !== undefined,
    );
    part = { catalog, failure: undefined };
  } catch (cause) {
    part = { failure: { ...describeFailure(cause), answered: exchange !== undefined } };
  }
  const facts = {
    exchange,
    totalMs: performance.now() - (exchange?.startedAt ?? calledAt),
    transfer: undefined,
    kept: exchange ? undefined : part.catalog,
  };
  change({ ...part, facts, isCalling: exchange !== undefined });
  if (exchange === undefined) return;
  const transfer = await measureTransfer(exchange);
  change({ facts: { ...facts, transfer }, isCalling: false });
}

/** Undefined for JSON, and for a failure. */
function copyOf(settings: CallSettings, { exchange, body }: Answer): CatalogCopy | undefined {
  if (settings.encoding === "json" || exchange.status !== 200) return undefined;
  const bytes = messageIn(settings, body);
  // A failure of gRPC-Web has the status 200, and no message.
  return bytes.length === 0 ? undefined : { ...describe(exchange.headers), bytes };
}

function describe(headers: Headers): Omit<CatalogCopy, "bytes"> {
  return {
    sha256: headers.get("catalog-sha256") ?? "",
    version: Number(headers.get("catalog-version")),
    language: headers.get("content-language") ?? "en",
  };
}

function describeFailure(cause: unknown): CatalogFailure {
  if (!(cause instanceof CatalogError))
    return { code: "internal", message: String(cause), retryAfterSeconds: null };
  const { code, message, retryAfterSeconds } = cause;
  return { code, message, retryAfterSeconds };
}
