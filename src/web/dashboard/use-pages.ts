import { useEffect, useState } from "preact/hooks";
import { askAdmin } from "./admin-client.ts";
import { type Polled, usePoll } from "./use-poll.ts";

interface AnyPage {
  readonly next_cursor: string | null;
}

export interface Pages<P extends AnyPage> extends Polled<P> {
  /** All loaded pages, the newest first. */
  readonly pages: readonly P[];
  /** Loads the next page; undefined if there is none. */
  readonly loadMore: (() => void) | undefined;
}

/** Polls the first page of a history and loads the others on request. */
export function usePages<P extends AnyPage>(path: string, everyMs: number): Pages<P> {
  const first = usePoll<P>(path, everyMs);
  const [older, setOlder] = useState<readonly P[]>([]);
  useEffect(() => setOlder([]), [path]);
  const pages = first.body === undefined ? [] : [first.body, ...older];
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const load = async (after: string) => {
    const { pathname, searchParams } = new URL(path, window.location.origin);
    searchParams.set("cursor", after);
    const answer = await askAdmin<P>({ path: `${pathname}?${searchParams}` });
    if (answer.ok) setOlder((known) => [...known, answer.body]);
  };
  return { ...first, pages, loadMore: cursor === null ? undefined : () => void load(cursor) };
}
