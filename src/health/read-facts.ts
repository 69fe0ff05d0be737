import type { BackupTimes } from "../backup/listing.ts";
import { type LocaleEntry, type Manifest, manifestBlobs } from "../catalog/manifest.ts";
import type { CatalogStore, Copy, Replica } from "../storage/catalog-store.ts";
import { withDeadline } from "../storage/deadline.ts";
import type {
  CopyCheck,
  DamagedCopy,
  Facts,
  IngestFacts,
  ManifestCopy,
  MonitorFacts,
  Reading,
} from "./facts.ts";

/** Sources of the facts. A function that throws or times out makes its input unreadable. */
export interface FactSources {
  readonly readIngest: () => Promise<IngestFacts>;
  readonly store: Pick<CatalogStore, "readManifest" | "checkBlob">;
  /** Throws if D1 fails. */
  readonly pingHistory: () => Promise<unknown>;
  readonly readBackups: () => Promise<BackupTimes>;
  /** Deadline of each input. */
  readonly timeoutMs: number;
}

/** Deadline of an input. The coordinator may be busy compressing segments. */
export const INPUT_TIMEOUT_MS = 25_000;

/** Reads every input. A failed input never blocks the others. */
export async function readFacts(
  sources: FactSources,
  { check, monitor }: { readonly check: CheckRequest; readonly monitor: MonitorFacts },
): Promise<Facts> {
  const { readIngest, store, pingHistory, readBackups, timeoutMs } = sources;
  const read = <T>(what: string, from: () => Promise<T>) => readInput(what, timeoutMs, from);
  const catalog = Promise.all([store.readManifest("kv"), store.readManifest("r2")]);
  const [ingest, [kv, r2], history, backups] = await Promise.all([
    read("the ingest coordinator", readIngest),
    catalog,
    read("D1", async () => {
      await pingHistory();
      return null;
    }),
    read("the backups", readBackups),
  ]);
  const manifest = newest([kv, r2]);
  const copies =
    manifest === undefined ? NOTHING_CHECKED : await checkCopies(manifest, check, store);
  return {
    ingest,
    catalog: { kv: manifestCopy("kv", kv), r2: manifestCopy("r2", r2) },
    copies,
    history,
    backups,
    monitor,
  };
}

const NOTHING_CHECKED: CopyCheck = {
  locale: null,
  checked: 0,
  damaged: [],
  unreadable: [],
};

async function readInput<T>(
  what: string,
  timeoutMs: number,
  from: () => Promise<T>,
): Promise<Reading<T>> {
  try {
    return { ok: true, value: await withDeadline(what, timeoutMs, from()) };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { ok: false, why: `${what} cannot be read (${cause})` };
  }
}

function newest(copies: readonly Copy<Manifest>[]): Manifest | undefined {
  return copies
    .flatMap((copy) => (copy.ok ? [copy.value] : []))
    .toSorted((a, b) => b.generation - a.generation)[0];
}

function manifestCopy(replica: "kv" | "r2", copy: Copy<Manifest>): ManifestCopy {
  if (!copy.ok) {
    const detail = `${replica} manifest is ${copy.fault} (${copy.detail})`;
    return { state: copy.fault, detail };
  }
  const { generation, published_at, as_of, locales } = copy.value;
  const coverage = Object.fromEntries(
    Object.entries(locales).map(([locale, entry]) => [locale, entry.coverage]),
  );
  return { state: "present", published: { generation, published_at, as_of, coverage } };
}

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
