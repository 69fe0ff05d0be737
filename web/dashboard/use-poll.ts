import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type AdminFailure, type AdminResult, askAdmin } from "./admin-client.ts";

export interface Polled<T> {
  /** The last answer; it stays while later requests fail. */
  readonly body: T | undefined;
  /** When it came, in milliseconds since 1970; 0 without one. */
  readonly receivedAt: number;
  /** Failure of the last request. */
  readonly failure: AdminFailure | undefined;
}

export interface Pages<P> extends Polled<P> {
  /** All loaded pages, the newest first. */
  readonly pages: readonly P[];
  /** Loads the next page; undefined if there is none. */
  readonly loadMore: (() => void) | undefined;
}

interface AnyPage {
  readonly next_cursor?: string | null;
}

const polls = new Set<() => void>();

/** Requests again everything that the page shows, as after a change or with another credential. */
export function refreshAll(): void {
  for (const refresh of polls) refresh();
}

/** Polls a document while the page is visible. Nothing is polled for a path of null. */
export function usePoll<T>(path: string | null, everyMs: number): Polled<T> {
  const { body, ...polled } = usePolledPages<T & AnyPage>({ path, everyMs, count: 1 });
  return { ...polled, body: body?.[0] };
}

/** Polls the first page of a list, and the others that were requested. */
export function usePages<P extends AnyPage>(path: string, everyMs: number): Pages<P> {
  const [more, setMore] = useState({ path, count: 1 });
  const count = more.path === path ? more.count : 1;
  const { body: pages = [], ...polled } = usePolledPages<P>({ path, everyMs, count });
  const hasMore = pages.length === count && typeof pages.at(-1)?.next_cursor === "string";
  const loadMore = hasMore ? () => setMore({ path, count: count + 1 }) : undefined;
  return { ...polled, body: pages[0], pages, loadMore };
}

interface PollOptions {
  readonly path: string | null;
  readonly everyMs: number;
  /** Number of pages. */
  readonly count: number;
}

const NOT_POLLED = { body: undefined, receivedAt: 0, failure: undefined };
/** Longest wait before a failed request is repeated: the document may not have reached R2 yet. */
const RETRY_MS = 5_000;
/** Deadline of a request. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Stops after a refused credential until `refreshAll`, because the service counts and slows down such
 * failures.
 */
function usePolledPages<P extends AnyPage>(options: PollOptions): Polled<readonly P[]> {
  const { path, everyMs, count } = options;
  const [state, setState] = useState<Polled<readonly P[]>>(NOT_POLLED);
  const [round, setRound] = useState(0);
  const asked = useRef(path);
  const refresh = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    polls.add(refresh);
    return () => polls.delete(refresh);
  }, []);
  useEffect(() => {
    const left = new AbortController();
    // A document of another path is not an update.
    if (asked.current !== path) setState(NOT_POLLED);
    asked.current = path;
    if (path === null) return undefined;
    let isAsking = false;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      // One request runs at a time, so a slow older answer never replaces a newer one.
      if (isAsking) return;
      isAsking = true;
      clearTimeout(retry);
      const signal = AbortSignal.any([left.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
      const result = await askPages<P>({ path, count, signal });
      isAsking = false;
      if (left.signal.aborted) return;
      if (result.ok) setState({ body: result.body, receivedAt: Date.now(), failure: undefined });
      else setState((last) => ({ ...last, failure: result.failure }));
      if (result.ok) return;
      if (result.failure.kind === "unauthenticated") stop();
      else retry = setTimeout(askInSight, Math.min(everyMs, RETRY_MS));
    };
    const askInSight = () => {
      if (document.visibilityState === "visible") void ask();
    };
    void ask();
    const timer = setInterval(askInSight, everyMs);
    document.addEventListener("visibilitychange", askInSight);
    const stop = () => {
      left.abort();
      clearInterval(timer);
      clearTimeout(retry);
      document.removeEventListener("visibilitychange", askInSight);
    };
    return stop;
  }, [path, everyMs, count, round]);
  return state;
}

interface PagesRequest {
  readonly path: string;
  readonly count: number;
  readonly signal: AbortSignal;
}

/** Requests a document, or the first pages of a list. */
async function askPages<P extends AnyPage>({
  path,
  count,
  signal,
}: PagesRequest): Promise<AdminResult<readonly P[]>> {
  const pages: P[] = [];
  const { pathname, searchParams } = new URL(path, window.location.origin);
  while (pages.length < count) {
    const query = searchParams.size === 0 ? "" : `?${searchParams}`;
    const result = await askAdmin<P>({ path: `${pathname}${query}`, signal });
    if (!result.ok) return result;
    pages.push(result.body);
    const { next_cursor: cursor } = result.body;
    if (typeof cursor !== "string") break;
    searchParams.set("cursor", cursor);
  }
  return { ok: true, body: pages };
}
