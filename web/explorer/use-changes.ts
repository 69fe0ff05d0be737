import { useEffect, useState } from "preact/hooks";
import type { Position } from "./permalink.ts";
import type { LoadedCatalog } from "./use-catalog.ts";

export const CHANGED_LISTS = ["airports", "cities", "countries", "regions"] as const;

interface Entity {
  readonly id: string;
}

interface ListChanges<E extends Entity> {
  readonly counts: Readonly<Record<"added" | "changed" | "removed", number>>;
  readonly added: readonly Entity[];
  readonly changed: readonly Entity[];
  readonly removed: readonly E[];
}

/** An airport that the current version no longer has. */
export interface RemovedAirport extends Entity, Position {
  readonly iata: string;
  readonly name: string;
}

/** The part of `GET /catalog/diff` that this page reads. */
interface Diff extends Readonly<Record<(typeof CHANGED_LISTS)[number], ListChanges<Entity>>> {
  readonly to: { readonly published_at: string };
  readonly airports: ListChanges<RemovedAirport>;
}

/** What the current version has changed, as far as that is known. */
export type Changes =
  | { readonly state: "asking" | "unknown" | "failed" }
  | { readonly state: "known"; readonly publishedAt: string; readonly lists: Diff };

/** Asks for the changes of the catalog's version, once somebody wants to see them. */
export function useChanges(catalog: LoadedCatalog | undefined, isWanted: boolean): Changes {
  const [changes, setChanges] = useState<Changes>({ state: "asking" });
  const { version, locale } = catalog ?? {};
  useEffect(() => {
    if (!isWanted || version === undefined) return undefined;
    const left = new AbortController();
    setChanges({ state: "asking" });
    askChanges(version, `${locale}`, left.signal).then(
      (answer) => setChanges(answer),
      () => left.signal.aborted || setChanges({ state: "failed" }),
    );
    return () => left.abort();
  }, [isWanted, version, locale]);
  return changes;
}

async function askChanges(version: number, locale: string, signal: AbortSignal): Promise<Changes> {
  // There is no version before the first.
  if (version < 2) return { state: "unknown" };
  const query = new URLSearchParams({ from: String(version - 1), locale });
  const answer = await fetch(`/catalog/diff?${query}`, { signal });
  if (answer.status === 404) return { state: "unknown" };
  if (!answer.ok) return { state: "failed" };
  const lists: Diff = await answer.json();
  return { state: "known", publishedAt: lists.to.published_at, lists };
}
