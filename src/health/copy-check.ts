import type { LocaleEntry, Manifest } from "../catalog/manifest.ts";
import { manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore, Replica } from "../storage/catalog-store.ts";
import type { CopyCheck, DamagedCopy } from "./facts.ts";

const REPLICAS: readonly Replica[] = ["kv", "r2"];
/** After so many copies that cannot be read, the store is taken for unreachable. */
const UNREADABLE_MAX = 4;

export interface CheckRequest {
  /** Whether it is time for a locale; otherwise only suspects are read. */
  readonly isLocaleDue: boolean;
  /** The locale that was checked last; null for none. */
  readonly after: string | null;
  /** Blobs that were found damaged before: they are read each time until they are whole. */
  readonly suspects: readonly string[];
}

/**
 * Reads suspects and, where it is due, the next locale's blobs from both stores, and hashes them:
 * one blob after the other, so that memory holds no more than its two copies.
 */
export async function checkCopies(
  manifest: Manifest,
  { isLocaleDue, after, suspects }: CheckRequest,
  store: Pick<CatalogStore, "checkBlob">,
): Promise<CopyCheck> {
  const named = manifestBlobs(manifest);
  const locale = isLocaleDue ? nextLocale(manifest, after) : null;
  const entry = manifest.locales[locale ?? ""];
  const own = entry === undefined ? [] : localeBlobs(entry);
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
