/** Builders of the facts of a healthy service, with changes. */
import type { BackupTimes } from "../../src/backup/read-backups.ts";
import type { Manifest } from "../../src/parts/manifest.ts";
import type { CoordinatorStatus } from "../../src/coordinator/status.ts";
import type { EndedRun } from "../../src/schemas/run.ts";
import type { Facts, MonitorFacts } from "../../src/monitor/facts.ts";
import { aLocaleEntry, aManifest } from "./manifest.ts";
import { type Limits, readLimits } from "../../src/monitor/alert-settings.ts";
import type { Copy } from "../../src/storage/catalog-store.ts";

/** The time at which the facts are looked at, in milliseconds since 1970. */
export const NOW = Date.parse("2026-11-20T12:00:00.000Z");
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The time so many milliseconds before `NOW`. */
export const ago = (ms: number) => new Date(NOW - ms).toISOString();

export const DEFAULT_LIMITS: Limits = readLimits({}).limits;

export function someFacts(changes: Partial<Facts> = {}): Facts {
  return {
    ingest: { ok: true, value: someIngestFacts() },
    catalog: { kv: aManifestCopy(), r2: aManifestCopy() },
    copies: { locale: "en", checked: 24, damaged: [], lost: [], unreadable: [] },
    history: { ok: true, value: null },
    backups: { ok: true, value: someBackups() },
    monitor: {
      since: NOW - 30 * 24 * HOUR_MS,
      lastTickAt: NOW - 5 * MINUTE_MS,
      silentSince: NOW,
      outboxLength: 0,
      setAside: [],
      targets: [{ name: "ops", failures: 0, lastError: null }],
      tokens: [],
      crons: [],
      settingProblems: [],
    },
    ...changes,
  };
}

/** What a test says of a status: its objects may lack what nobody reads there. */
type Rough<T> = T extends readonly (infer Item)[]
  ? readonly Rough<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Rough<T[K]> }
    : T;
export type RoughStatus = Rough<CoordinatorStatus>;

export function someIngestFacts(changes: RoughStatus = {}): CoordinatorStatus {
  const status: RoughStatus = {
    pause: null,
    running: null,
    job: null,
    queued: [],
    nextDueAt: null,
    ended: [anEndedRun()],
    current: { generation: 7, published_at: ago(5 * 24 * HOUR_MS) },
    replicated: true,
    foreign: null,
    outboxLength: 0,
    historyLostAt: null,
    held: null,
    lastTicks: {},
    oldestPublishedAt: null,
    setAside: [],
    bestCoverage: { de: 0.9, en: 1 },
    localeSettings: { locales: ["de", "en"], defaultLocale: "en" },
    ...changes,
  };
  return status as CoordinatorStatus;
}

/** Facts in which the coordinator holds something else. */
export function withIngest(changes: RoughStatus): Facts {
  return someFacts({ ingest: { ok: true, value: someIngestFacts(changes) } });
}

/** Facts in which the monitor itself is in another state. */
export function withMonitor(changes: Partial<MonitorFacts>): Facts {
  const facts = someFacts();
  return { ...facts, monitor: { ...facts.monitor, ...changes } };
}

/** Facts in which both stores show another version. */
export function withManifest(changes: ManifestChanges): Facts {
  const copy = aManifestCopy(changes);
  return someFacts({ catalog: { kv: copy, r2: copy } });
}

/** A run that has published, or found nothing new, eight hours ago. */
export function anEndedRun(changes: Rough<EndedRun> = {}): EndedRun {
  const run: Rough<EndedRun> = {
    id: "run-1",
    state: "succeeded",
    outcome: "unchanged",
    mode: "incremental",
    finished_at: ago(8 * HOUR_MS),
    error: null,
    guards: [],
    ...changes,
  };
  return run as EndedRun;
}

export function aFailedRun(changes: Rough<EndedRun> = {}): EndedRun {
  const error = { code: "store_fault", message: "KV refused" };
  return anEndedRun({ state: "failed", outcome: null, error, ...changes });
}

interface ManifestChanges extends Partial<Omit<Manifest, "locales">> {
  /** 0 to 1, by locale. */
  readonly coverage?: { readonly [locale: string]: number };
}

export function aManifestCopy({
  coverage = { de: 0.9, en: 1 },
  ...changes
}: ManifestChanges = {}): Copy<Manifest> {
  const locales = Object.entries(coverage).map(([locale, share]) => [
    locale,
    aLocaleEntry({ coverage: share }),
  ]);
  return {
    ok: true,
    value: aManifest({
      generation: 7,
      published_at: ago(5 * 24 * HOUR_MS),
      as_of: "2026-10-20",
      locales: Object.fromEntries(locales),
      ...changes,
    }),
  };
}

export function someBackups(changes: Partial<BackupTimes> = {}): BackupTimes {
  return {
    newestFailure: null,
    newestFinishedAt: ago(HOUR_MS),
    newestVerifiedAt: ago(HOUR_MS),
    misdated: [],
    ...changes,
  };
}
