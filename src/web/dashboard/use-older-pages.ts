import { useState } from "preact/hooks";
import { askAdmin } from "./admin-client.ts";

interface Page {
  readonly next_cursor: string | null;
}

interface OlderPages<P> {
  /** Pages after the first, in order. */
  readonly pages: readonly P[];
  readonly hasMore: boolean;
  readonly load: () => void;
}

/** Loads the pages of a list after its first, which another hook polls. */
export function useOlderPages<P extends Page>(
  path: string,
  firstCursor: string | null,
): OlderPages<P> {
  const [pages, setPages] = useState<readonly P[]>([]);
  const last = pages.at(-1);
  const cursor = last === undefined ? firstCursor : last.next_cursor;
  const load = async () => {
    if (cursor === null) return;
    const answer = await askAdmin<P>({ path: `${path}?cursor=${encodeURIComponent(cursor)}` });
    if (answer.ok) setPages([...pages, answer.body]);
  };
  return { pages, hasMore: cursor !== null, load: () => void load() };
}
