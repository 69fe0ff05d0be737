import { type LocaleEntry, type Manifest, manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore, Replica } from "../storage/catalog-store.ts";
import type { CopyCheck, DamagedCopy } from "./facts.ts";

const REPLICAS: readonly Replica[] = ["kv", "r2"];
/** After this many unreadable copies the store counts as unreachable. */
const UNREADABLE_MAX = 4;

export interface CheckRequest {
  /** Whether to check a locale. Otherwise only suspects are read. */
  readonly isLocaleDue: boolean;
  /** The last checked locale; null if none. */
  readonly after: string | null;
  /** Blobs with a damaged copy. They are read each time until they are intact. */
  readonly suspects: readonly string[];
}

/**
 * Reads and hashes the suspects and, if due, the next locale's blobs from both stores. Reads one
 * blob at a time, so that at most its two copies are in memory.
 */
export async function checkCopies(
  manifest: Manifest,
  { isLocaleDue, after, suspects }: CheckRequest,
  store: Pick<CatalogStore, "checkBlob">,
): Promise<CopyCheck> {
  const named = manifestBlobs(manifest);
  const locale = isLocaleDue ? nextLocale(manifest, after) : null;
  const entry = manifest.locales[locale ?? ""];
  const changes = manifest.diffs.flatMap(({ common, local, deltas }) => [
    common,
    local[locale ?? ""] ?? [],
    deltas?.blob ?? [],
  ]);
  const own = entry === undefined ? [] : [...localeBlobs(entry), ...changes.flat()];
  const damaged: DamagedCopy[] = [];
  const unreadable: string[] = [];
  let checked = 0;
  for (const sha256 of new Set([...suspects.filter((blob) => named.has(blob)), ...own])) {
    if (unreadable.length >= UNREADABLE_MAX) break;
    const copies = await Promise.all(REPLICAS.map((replica) => store.checkBlob(replica, sha256)));
    for (const [index, copy] of copies.entries()) {
      const replica = REPLICAS[index] ?? "kv";
      if (copy.ok) checked++;
      else if (copy.fault === "unreadable") unreadable.push(copy.detail);
      else damaged.push({ replica, sha256, fault: copy.fault });
    }
  }
  return { locale, checked, damaged, unreadable };
}

/** Returns the next locale in code unit order, cyclically; null if there is none. */
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
