import type { AlertHistory } from "../storage/alert-history.ts";
import type { History } from "../storage/run-history.ts";
import type { CronJobName } from "../coordinator/schedule.ts";
import type { Limits } from "../monitor/alert-settings.ts";
import type { AuditStore } from "../storage/audit-store.ts";
import type { BackupStore } from "../storage/backup-store.ts";
import type { CachedCatalogReader } from "../storage/cached-catalog-reader.ts";
import type { SourceArchive } from "../storage/source-archive.ts";
import type { RecordChange } from "./audit/audit-trail.ts";
import type { Suggest } from "../search/suggester.ts";
import type { Authentication } from "./auth/authenticate.ts";
import type { CoordinatorCalls, MonitorCalls } from "./calls.ts";

/** The dependencies of the routes: the Durable Objects, the stores, the settings and the clock. */
export interface AdminPlatform extends Authentication {
  readonly coordinator: CoordinatorCalls;
  readonly alerts: MonitorCalls;
  readonly reader: CachedCatalogReader;
  /** Opens a reader that holds nothing yet, like that of a new isolate. */
  readonly openReader: () => Pick<CachedCatalogReader, "current" | "open">;
  readonly history: History;
  readonly alertHistory: Pick<AlertHistory, "listRuns" | "findRun">;
  readonly audit: Pick<AuditStore, "list">;
  readonly backups: BackupStore;
  readonly archive: Pick<SourceArchive, "read">;
  /** Suggests places. Rejects if the static assets do not answer. */
  readonly suggest: Suggest;
  readonly probes: StoreProbes;
  readonly recordChange: RecordChange;
  readonly defaultLocale: string;
  readonly limits: Limits;
  readonly jobs: readonly ScheduledJob[];
  /** The credits that the data's licences require, in Markdown. */
  readonly notice: string;
  readonly version: string;
  /** Keeps the present request's context alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** The smallest round trip to each store. Each rejects if the store fails. */
export interface StoreProbes {
  readonly kv: () => Promise<unknown>;
  /** Rejects with TablesMissing if D1 answers without all tables. */
  readonly d1: () => Promise<unknown>;
  readonly r2: () => Promise<unknown>;
}

export interface ScheduledJob {
  readonly cron: string;
  readonly job: CronJobName;
}
