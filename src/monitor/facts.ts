/** The inputs of the health rules. Each is a value or the reason why it is unreadable. */
import type { BackupTimes } from "../backup/read-backups.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import { composeBody } from "../parts/compose.ts";
import { CODINGS, type Manifest, neededBlobs } from "../parts/manifest.ts";
import type { AlertHistory } from "../storage/alert-history.ts";
import type { CatalogStore, Copy, CopyFault, Replica } from "../storage/catalog-store.ts";
import { withDeadline } from "../platform/deadline.ts";
import type { DurationMs, EpochMs, Sha256Hex } from "../platform/units.ts";
import { findAbsent } from "../storage/lost-blobs.ts";
import type { SetAside } from "../storage/object-tables.ts";

export type Reading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** The published manifest as each store has it. */
export type ManifestCopies = { readonly [R in Replica]: Copy<Manifest> };

/** A copy that differs from the published content. */
interface DamagedCopy {
  readonly replica: Replica;
  readonly sha256: Sha256Hex;
  readonly fault: "missing" | "corrupt";
}

/** Result of reading blobs from both stores: those of a due locale, and suspects. */
interface CopyCheck {
  /** The checked locale; null if none was due, so that only a sample was read. */
  readonly locale: string | null;
  /** Number of copies that were read and hashed. */
  readonly checked: number;
  readonly damaged: readonly DamagedCopy[];
  /** Blobs of bodies of which no copy is intact. Clients need no other blob. */
  readonly lost: readonly Sha256Hex[];
  readonly unreadable: readonly string[];
}

interface TargetFacts {
  readonly name: string;
  /** Consecutive evaluations with a failed delivery. */
  readonly failures: number;
  readonly lastError: string | null;
}

type SetAsideFacts = Pick<SetAside, "table" | "key" | "at" | "problem">;

export interface TokenFacts {
  readonly id: string;
  /** Null if it does not expire. */
  readonly expiresAt: EpochMs | null;
}

export interface MonitorFacts {
  /** Time of the first evaluation. */
  readonly since: EpochMs;
  readonly lastTickAt: EpochMs | null;
  /** Start of the first of the consecutive evaluations that could not read the coordinator, or of this one. */
  readonly silentSince: EpochMs;
  readonly outboxLength: number;
  /** Its stored values that could not be read. */
  readonly setAside: readonly SetAsideFacts[];
  readonly targets: readonly TargetFacts[];
  readonly tokens: readonly TokenFacts[];
  /** The cron triggers that queue a run. */
  readonly crons: readonly string[];
  /** The problems of the settings, one sentence each, without secrets. */
  readonly settingProblems: readonly string[];
}

export interface Facts {
  readonly ingest: Reading<CoordinatorStatus>;
  readonly catalog: ManifestCopies;
  readonly copies: CopyCheck;
  /** Whether D1 answers. */
  readonly history: Reading<unknown>;
  readonly backups: Reading<BackupTimes>;
  readonly monitor: MonitorFacts;
}

/** Whether two versions share only the number, because two installations published them. */
export function isOther(
  a: Pick<Manifest, "generation" | "published_at">,
  b: Pick<Manifest, "generation" | "published_at">,
): boolean {
  return a.generation === b.generation && a.published_at !== b.published_at;
}

/** Returns the newer intact manifest of the two, or undefined if there is none. */
export function newestPublished({ kv, r2 }: ManifestCopies): Manifest | undefined {
  return [kv, r2]
    .flatMap((copy) => (copy.ok ? [copy.value] : []))
    .toSorted((a, b) => b.generation - a.generation)[0];
}

/** The manifests, if both stores show the one that a reader has found. */
export function bothShow(manifest: Manifest | null): ManifestCopies {
  const copy: Copy<Manifest> =
    manifest === null ? { ok: false, fault: "missing", detail: "" } : { ok: true, value: manifest };
  return { kv: copy, r2: copy };
}

/** Names the manifests with one of these faults, KV's first. */
export function describeFaults(
  { kv, r2 }: ManifestCopies,
  faults: readonly CopyFault["fault"][],
): string[] {
  return Object.entries({ kv, r2 }).flatMap(([replica, copy]) =>
    copy.ok || !faults.includes(copy.fault)
      ? []
      : [`${replica} manifest is ${copy.fault} (${copy.detail})`],
  );
}

/** Returns the published manifest, or null if none exists. Unreadable copies make it unreadable. */
export function readPublished(catalog: ManifestCopies): Reading<Manifest | null> {
  const published = newestPublished(catalog);
  if (published !== undefined) return { ok: true, value: published };
  const [why] = describeFaults(catalog, ["unreadable", "corrupt"]);
  return why === undefined ? { ok: true, value: null } : { ok: false, why };
}

/** Sources of the facts. A function that throws or times out makes its input unreadable. */
export interface FactSources {
  readonly readIngest: () => Promise<CoordinatorStatus>;
  readonly store: Pick<CatalogStore, "readManifest" | "checkBlob" | "listBlobs">;
  readonly history: Pick<AlertHistory, "ping" | "saveRuns" | "deleteOldRuns">;
  readonly readBackups: () => Promise<BackupTimes>;
  readonly inputTimeoutMs: DurationMs;
}

/** Deadline of an input. The coordinator may be busy compressing parts. */
export const INPUT_TIMEOUT_MS = 25_000;

/** Reads every input. A failed input never blocks the others. */
export async function readFacts(
  sources: FactSources,
  { check, monitor }: { readonly check: CheckRequest; readonly monitor: MonitorFacts },
): Promise<Facts> {
  const { readIngest, store, history: source, readBackups, inputTimeoutMs } = sources;
  const read = <T>(what: string, from: () => Promise<T>) => readFact(what, inputTimeoutMs, from);
  const [ingest, kv, r2, history, backups] = await Promise.all([
    read("the ingest coordinator", readIngest),
    store.readManifest("kv"),
    store.readManifest("r2"),
    read("D1", () => source.ping()),
    read("the backups", readBackups),
  ]);
  const catalog = { kv, r2 };
  const manifest = newestPublished(catalog);
  const copies =
    manifest === undefined ? NOTHING_CHECKED : await checkCopies(manifest, check, store);
  return { ingest, catalog, copies, history, backups, monitor };
}

const NOTHING_CHECKED: CopyCheck = {
  locale: null,
  checked: 0,
  damaged: [],
  lost: [],
  unreadable: [],
};

async function readFact<T>(
  what: string,
  timeoutMs: DurationMs,
  from: () => Promise<T>,
): Promise<Reading<T>> {
  try {
    return { ok: true, value: await withDeadline(what, timeoutMs, from()) };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { ok: false, why: `${what} cannot be read (${cause})` };
  }
}

const REPLICAS: readonly Replica[] = ["kv", "r2"];
/** After this many unreadable copies the store counts as unreachable. */
const UNREADABLE_MAX = 4;

export interface CheckRequest {
  /** Whether to check a locale. Otherwise suspects are read, and one body. */
  readonly isLocaleDue: boolean;
  readonly after: string | null;
  /** Blobs with a damaged copy. They are read each time until they are intact. */
  readonly suspects: readonly Sha256Hex[];
}

/**
 * Reads blobs from both stores and hashes them, one at a time to save memory: the suspects, and those
 * of a locale with all that R2 does not list, if that is due. Otherwise the blobs of one body show
 * whether a store has lost everything.
 */
export async function checkCopies(
  manifest: Manifest,
  { isLocaleDue, after, suspects }: CheckRequest,
  store: Pick<CatalogStore, "checkBlob" | "listBlobs">,
): Promise<CopyCheck> {
  const all = neededBlobs(manifest);
  const named = new Set(all.map(({ sha256 }) => sha256));
  const locale = isLocaleDue ? nextLocale(manifest, after) : null;
  const blobs =
    locale === null
      ? sampleBlobs(manifest)
      : all.filter((blob) => (blob.locale ?? locale) === locale).map(({ sha256 }) => sha256);
  const damaged: DamagedCopy[] = [];
  const lost: Sha256Hex[] = [];
  const unreadable: string[] = [];
  const ofBodies = new Set(all.filter(({ isOfBody }) => isOfBody).map(({ sha256 }) => sha256));
  let checked = 0;
  const absent = locale === null ? [] : await findAbsent(store, named);
  const suspected = suspects.filter((blob) => named.has(blob));
  for (const sha256 of new Set([...suspected, ...absent, ...blobs])) {
    if (unreadable.length >= UNREADABLE_MAX) break;
    const copies = await Promise.all(REPLICAS.map((replica) => store.checkBlob(replica, sha256)));
    const isLost = copies.every((copy) => !copy.ok && copy.fault !== "unreadable");
    if (isLost && ofBodies.has(sha256)) lost.push(sha256);
    for (const [index, copy] of copies.entries()) {
      const replica = REPLICAS[index] ?? "kv";
      if (copy.ok) checked++;
      else if (copy.fault === "unreadable") unreadable.push(copy.detail);
      else damaged.push({ replica, sha256, fault: copy.fault });
    }
  }
  return { locale, checked, damaged, lost, unreadable };
}

/** Returns the next locale in code unit order, cyclically; null if there is none. */
function nextLocale({ locales }: Manifest, after: string | null): string | null {
  const names = Object.keys(locales).toSorted();
  return names.find((name) => name > (after ?? "")) ?? names[0] ?? null;
}

/** The blobs of the first locale's smallest body. */
function sampleBlobs(manifest: Manifest): Sha256Hex[] {
  const [locale = ""] = Object.keys(manifest.locales);
  const bodies = CODINGS.flatMap(
    (coding) => composeBody(manifest, { locale, representation: "proto", coding }) ?? [],
  );
  return (bodies[0]?.pieces ?? []).flatMap((piece) => ("sha256" in piece ? [piece.sha256] : []));
}
