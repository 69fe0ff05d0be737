import { z } from "zod";
import { alertResultSchema } from "../../alerts/alert-run.ts";
import { backupStatus, newestTimes } from "../../backup/listing.ts";
import { type DeepReadonly, hexHash, listCounts, timestamp } from "../../catalog/fields.ts";
import { checkWebhooks } from "../../health/alert-checks.ts";
import { judgeBackups, STATUS_CHECKS } from "../../health/backup-rules.ts";
import { checkData } from "../../health/catalog-checks.ts";
import { checkCoordinator, checkRuns } from "../../health/ingest-checks.ts";
import type { Limits } from "../../health/limits.ts";
import { gravest, type HealthStatus, worstOf } from "../../health/status.ts";
import type { History } from "../../coordinator/history.ts";
import { type ListedRun, runSchema } from "../../coordinator/run.ts";
import type { BackupStore } from "../../storage/backup-store.ts";
import type { CatalogReader } from "../../storage/catalog-reader.ts";
import type { CoordinatorCalls, MonitorCalls } from "../calls/object-calls.ts";
import { findLastRuns } from "../ingest/run-list.ts";
import { healthStatus } from "./health-schema.ts";

/** What the sections are read from. */
export interface SummarySources {
  readonly reader: CatalogReader;
  readonly coordinator: CoordinatorCalls;
  readonly history: History;
  readonly backups: BackupStore;
  readonly alerts: MonitorCalls;
  readonly limits: Limits;
  readonly now: () => number;
}

export interface Found<Schema extends z.ZodType = z.ZodType> {
  readonly status: HealthStatus;
  readonly shown: DeepReadonly<z.output<Schema>>;
}

const catalogSchema = z.strictObject({
  generation: z.int(),
  published_at: timestamp,
  as_of: z.iso.date().nullable().meta({ description: "The date of the airport data." }),
  catalog_sha256: hexHash,
  counts: listCounts,
  locales: z.int(),
});

/** The published version, and whether its data is stale. */
async function readCatalog(sources: SummarySources): Promise<Found<typeof catalogSchema>> {
  const current = await sources.reader.current();
  if (!current.ok) throw new Error(current.reason);
  const { generation, published_at, as_of, catalog_sha256, counts, locales } = current.manifest;
  return {
    status: checkData(current.manifest, contextOf(sources)).status,
    shown: {
      generation,
      published_at,
      as_of,
      catalog_sha256,
      counts,
      locales: Object.keys(locales).length,
    },
  };
}

const ingestSchema = z.strictObject({
  paused: z.boolean(),
  paused_at: timestamp.nullable(),
  queued: z.int(),
  running: runSchema.pick({ stage: true, progress: true, started_at: true }).nullable(),
  last_run: runSchema
    .pick({ state: true, outcome: true, trigger: true, finished_at: true, duration_ms: true })
    .nullable()
    .meta({ description: "The run that ended last; skipped ticks do not count." }),
  last_success_at: timestamp.nullable(),
  held: z
    .strictObject({ waiting: z.int(), oldest_since: timestamp.nullable() })
    .nullable()
    .meta({ description: "Surprising changes by upstream that wait; null if not known." }),
});

/** The state of ingestion. A failure is only a warning here, since serving continues. */
async function readIngest(sources: SummarySources): Promise<Found<typeof ingestSchema>> {
  const { coordinator, history } = sources;
  const [status, unsettled] = await Promise.all([
    coordinator.status(),
    coordinator.unsettledRuns(),
  ]);
  const lastRuns = await findLastRuns(history, unsettled);
  const { ended, succeeded } = lastRuns;
  const { pause, queued, running } = status;
  const now = contextOf(sources);
  const worst = worstOf({ ...checkCoordinator(status, now), ...checkRuns(lastRuns, now) });
  return {
    status: worst === "pass" ? "pass" : "warn",
    shown: {
      paused: pause !== null,
      paused_at: pause?.at ?? null,
      queued: queued.length,
      running: running && {
        stage: running.stage,
        progress: running.progress,
        started_at: running.started_at,
      },
      last_run: ended === undefined ? null : describeRun(ended),
      last_success_at: succeeded?.finished_at ?? null,
      held: status.held,
    },
  };
}

function describeRun({ state, outcome, trigger, finished_at, duration_ms }: ListedRun) {
  return { state, outcome, trigger, finished_at, duration_ms };
}

const backupsSchema = z.strictObject({
  status: backupStatus,
  newest_at: timestamp.nullable(),
  newest_verified_at: timestamp.nullable(),
});

/** The state of the backups. */
async function readBackups(sources: SummarySources): Promise<Found<typeof backupsSchema>> {
  const backups = await newestTimes(sources.backups);
  const status = judgeBackups(backups, contextOf(sources));
  const { newestFinishedAt: newest_at, newestVerifiedAt: newest_verified_at } = backups;
  return { status: STATUS_CHECKS[status].status, shown: { status, newest_at, newest_verified_at } };
}

const alertsSchema = z.strictObject({
  worst: healthStatus.nullable(),
  evaluated_at: timestamp.nullable().meta({ description: "Null before the first evaluation." }),
  firing: z.int(),
  nodata: z.int(),
  pending: z.int(),
  webhooks: z.int().meta({ description: "Configured webhooks; with none, nobody is notified." }),
  alerts: z
    .array(
      alertResultSchema.pick({
        rule: true,
        severity: true,
        state: true,
        since: true,
        suppressed: true,
      }),
    )
    .meta({ description: "All alerts that are not inactive." }),
});

const NOTHING_EVALUATED = {
  worst: null,
  evaluated_at: null,
  firing: 0,
  nodata: 0,
  pending: 0,
  alerts: [],
};

/**
 * The last evaluation of the alerts, without its messages, which may name people and webhooks. A
 * firing alert is a warning here, as in the monitor's status.
 */
async function readAlerts(sources: SummarySources): Promise<Found<typeof alertsSchema>> {
  const { lastRun, targets } = await sources.alerts.status();
  const webhooks = targets.length;
  if (lastRun === null) return { status: "warn", shown: { ...NOTHING_EVALUATED, webhooks } };
  const { worst, started_at: evaluated_at, firing, nodata, pending, results } = lastRun;
  const notified = checkWebhooks(targets, contextOf(sources)).map(({ status }) => status);
  const alerts = results
    .filter(({ state }) => state !== "inactive")
    .map(({ rule, severity, state, since, suppressed }) => ({
      rule,
      severity,
      state,
      since,
      suppressed,
    }));
  return {
    status: gravest([worst === "pass" ? "pass" : "warn", ...notified]),
    shown: { worst, evaluated_at, firing, nodata, pending, webhooks, alerts },
  };
}

function contextOf({ limits, now }: SummarySources) {
  return { limits, now: now() };
}

/** The parts of the public summary, each of which may fail alone. They name nobody and no reason. */
export const SECTIONS = {
  catalog: { schema: catalogSchema.nullable(), read: readCatalog, unread: "fail" },
  ingest: { schema: ingestSchema.nullable(), read: readIngest, unread: "warn" },
  backups: { schema: backupsSchema.nullable(), read: readBackups, unread: "warn" },
  alerts: { schema: alertsSchema.nullable(), read: readAlerts, unread: "warn" },
} as const;

export const summarySchema = z
  .strictObject({
    status: healthStatus.meta({ description: "The gravest status of all sections." }),
    at: timestamp,
    degraded: z
      .array(z.enum(Object.keys(SECTIONS)))
      .meta({ description: "Sections that could not be read." }),
    catalog: SECTIONS.catalog.schema,
    ingest: SECTIONS.ingest.schema,
    backups: SECTIONS.backups.schema,
    alerts: SECTIONS.alerts.schema,
  })
  .meta({ id: "DashboardSummary" });

export type Summary = DeepReadonly<z.output<typeof summarySchema>>;
