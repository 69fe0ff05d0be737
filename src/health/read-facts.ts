import type { Manifest } from "../catalog/manifest.ts";
import type { CatalogStore, Copy } from "../storage/catalog-store.ts";
import { withDeadline } from "../storage/deadline.ts";
import { type CheckRequest, checkCopies } from "./copy-check.ts";
import type {
  BackupFacts,
  CopyCheck,
  Facts,
  IngestFacts,
  ManifestCopy,
  MonitorFacts,
  Reading,
} from "./facts.ts";

/** Where facts are read. A function that throws, or takes too long, leaves its input unread. */
export interface FactSources {
  readonly readIngest: () => Promise<IngestFacts>;
  readonly store: Pick<CatalogStore, "readManifest" | "checkBlob">;
  /** Throws if D1 does not answer. */
  readonly pingHistory: () => Promise<unknown>;
  readonly readBackups: () => Promise<BackupFacts>;
  /** How long an input may take. */
  readonly timeoutMs: number;
}

/** How long an input may take: the coordinator may have to wait while segments are compressed. */
export const INPUT_TIMEOUT_MS = 25_000;

/** Reads every input; none of them can keep the others from being read. */
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
