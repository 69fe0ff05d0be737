import type { LocaleEntry, Manifest } from "../catalog/manifest.ts";
import { manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore, Replica } from "../storage/catalog-store.ts";
import type { CopyCheck, DamagedCopy } from "./facts.ts";

const REPLICAS: readonly Replica[] = ["kv", "r2"];
/** After this time the rest is left to the next evaluation. */
const CHECK_MS = 20_000;
/** After so many copies that cannot be read, the store is taken for unreachable. */
const UNREADABLE_MAX = 4;

export interface CheckRequest {
  /** The locale that was checked last; null for none. */
  readonly after: string | null;
  /** Blobs of that locale which are still to be read. */
  readonly rest: readonly string[];
  /** Blobs that were found damaged before: they are read again until they are whole. */
  readonly suspects: readonly string[];
}

export interface CheckDependencies {
  readonly store: Pick<CatalogStore, "checkBlob">;
  readonly now: () => number;
}

/**
 * Reads one locale's blobs and the suspects from both stores, and hashes them. One blob after the
 * other, so that no more than its two copies is in memory; the locales take turns, so that each is
 * read in time.
 */
export async function checkCopies(
  manifest: Manifest,
  { after, rest, suspects }: CheckRequest,
  { store, now }: CheckDependencies,
): Promise<CopyCheck> {
  const named = manifestBlobs(manifest);
  const left = rest.filter((sha256) => named.has(sha256));
  const locale = left.length > 0 ? after : nextLocale(manifest, after);
  const entry = manifest.locales[locale ?? ""];
  const own = left.length > 0 || entry === undefined ? left : localeBlobs(entry);
  const blobs = [...new Set([...suspects.filter((sha256) => named.has(sha256)), ...own])];
  const damaged: DamagedCopy[] = [];
  const unreadable: string[] = [];
  const endsAt = now() + CHECK_MS;
  let checked = 0;
  let visited = 0;
  for (const sha256 of blobs) {
    if (unreadable.length >= UNREADABLE_MAX || now() >= endsAt) break;
    visited++;
    const copies = await Promise.all(REPLICAS.map((replica) => store.checkBlob(replica, sha256)));
    for (const [index, copy] of copies.entries()) {
      const replica = REPLICAS[index] ?? "kv";
      if (copy.ok) checked++;
      else if (copy.fault === "unreadable") unreadable.push(copy.detail);
      else damaged.push({ replica, sha256, fault: copy.fault });
    }
  }
  return { locale, checked, damaged, unreadable, rest: blobs.slice(visited) };
}

/** The locale after another in code unit order, around the end; null if there is none. */
function nextLocale({ locales }: Manifest, after: string | null): string | null {
  const names = Object.keys(locales).toSorted();
  return names.find((name) => name > (after ?? "")) ?? names[0] ?? null;
}

function localeBlobs({ bodies }: LocaleEntry): string[] {
  return Object.values(bodies)
    .flatMap((codings) => Object.values(codings))
    .flatMap(({ segments }) =>
      segments.flatMap((segment) => ("blob" in segment ? [segment.blob] : [])),
    );
}
