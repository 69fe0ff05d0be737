/** Builders of what health is judged by: a healthy service, but for what is changed. */
import type { BackupTimes } from "../../src/backup/read-backups.ts";
import type {
  EndedRunFacts,
  Facts,
  IngestFacts,
  MonitorFacts,
  Published,
} from "../../src/monitor/facts.ts";
import { type Limits, readLimits } from "../../src/monitor/limits.ts";
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

export function someIngestFacts(changes: Partial<IngestFacts> = {}): IngestFacts {
  return {
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
}

/** Facts in which the coordinator holds something else. */
export function withIngest(changes: Partial<IngestFacts>): Facts {
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
export function anEndedRun(changes: Partial<EndedRunFacts> = {}): EndedRunFacts {
  return {
    id: "run-1",
    state: "succeeded",
    outcome: "unchanged",
    mode: "incremental",
    finished_at: ago(8 * HOUR_MS),
    error: null,
    guards: [],
    ...changes,
  };
}

export function aFailedRun(changes: Partial<EndedRunFacts> = {}): EndedRunFacts {
  const error = { code: "store_fault", message: "KV refused" };
  return anEndedRun({ state: "failed", outcome: null, error, ...changes });
}

interface ManifestChanges extends Partial<Omit<Published, "locales">> {
  /** 0 to 1, by locale. */
  readonly coverage?: { readonly [locale: string]: number };
}

export function aManifestCopy({
  coverage = { de: 0.9, en: 1 },
  ...changes
}: ManifestChanges = {}): Copy<Published> {
  const locales = Object.entries(coverage).map(([locale, share]) => [locale, { coverage: share }]);
  return {
    ok: true,
    value: {
      generation: 7,
      published_at: ago(5 * 24 * HOUR_MS),
      as_of: "2026-10-20",
      locales: Object.fromEntries(locales),
      ...changes,
    },
  };
}

export function someBackups(changes: Partial<BackupTimes> = {}): BackupTimes {
  return {
    newestFailure: null,
    newestFinishedAt: ago(HOUR_MS),
    newestVerifiedAt: ago(HOUR_MS),
    ahead: [],
    ...changes,
  };
}
