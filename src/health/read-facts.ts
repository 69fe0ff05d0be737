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

/** Sources of the facts. A function that throws or times out makes its input unreadable. */
export interface FactSources {
  readonly readIngest: () => Promise<IngestFacts>;
  readonly store: Pick<CatalogStore, "readManifest" | "checkBlob">;
  /** Throws if D1 fails. */
  readonly pingHistory: () => Promise<unknown>;
  readonly readBackups: () => Promise<BackupFacts>;
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
