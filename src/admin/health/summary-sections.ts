import { z } from "zod";
import { newestTimes } from "../../backup/listing.ts";
import {
  type ListedRun,
  RUN_OUTCOMES,
  RUN_STATES,
  RUN_TRIGGERS,
  STAGES,
} from "../../ingest/run.ts";
import type { CatalogReader } from "../../storage/catalog-reader.ts";
import { withDeadline } from "../../storage/deadline.ts";
import type { History } from "../../ingest/history.ts";
import { ALERT_STATES } from "../../alerts/alert-state.ts";
import { checkWebhooks } from "../../health/alert-checks.ts";
import { judgeBackups, STATUS_CHECKS } from "../../health/backup-rules.ts";
import { checkData } from "../../health/catalog-checks.ts";
import { checkCoordinator, checkRuns } from "../../health/ingest-checks.ts";
import { type RuleContext, SEVERITIES } from "../../health/rule.ts";
import { RULE_NAMES } from "../../health/rules.ts";
import { gravest, worstOf } from "../../health/status.ts";
import type { AlertUseCases } from "../calls/alert-calls.ts";
import { backupStatus } from "../../backup/listing.ts";
import type { BackupAccess } from "../calls/backup-use-cases.ts";
import type { CoordinatorUseCases } from "../calls/coordinator.ts";
import { summarySection } from "./dashboard-routes.ts";
import { findLastRuns } from "../ingest/run-list.ts";
import { healthStatus } from "./health-schema.ts";
import { listCounts, hexHash, timestamp } from "../../catalog/fields.ts";

const READ_DEADLINE_MS = 2_000;

const catalogSchema = z.strictObject({
  generation: z.int(),
  published_at: timestamp,
  as_of: z.iso.date().nullable().meta({ description: "The date of the airport data." }),
  catalog_sha256: hexHash,
  counts: listCounts,
  locales: z.int(),
});

/** The published version, and whether its data is stale. */
export function catalogSection(reader: CatalogReader, context: () => RuleContext) {
  return summarySection({
    schema: catalogSchema,
    unread: "fail",
    read: async () => {
      const current = await withDeadline("catalog", READ_DEADLINE_MS, reader.current());
      if (!current.ok) throw new Error(current.reason);
      const { generation, published_at, as_of, catalog_sha256, counts, locales } = current.manifest;
      return {
        status: checkData(current.manifest, context()).status,
        shown: {
          generation,
          published_at,
          as_of,
          catalog_sha256,
          counts,
          locales: Object.keys(locales).length,
        },
      };
    },
  });
}

const ingestSchema = z.strictObject({
  paused: z.boolean(),
  paused_at: timestamp.nullable(),
  queued: z.int(),
  running: z
    .strictObject({
      stage: z.enum(STAGES).nullable(),
      progress: z.strictObject({ done: z.int(), total: z.int() }),
      started_at: timestamp.nullable(),
    })
    .nullable(),
  last_run: z
    .strictObject({
      state: z.enum(RUN_STATES),
      outcome: z.enum(RUN_OUTCOMES).nullable(),
      trigger: z.enum(RUN_TRIGGERS),
      finished_at: timestamp.nullable(),
      duration_ms: z.int().nullable(),
    })
    .nullable()
    .meta({ description: "The last run that ended." }),
  last_success_at: timestamp.nullable(),
  held: z
    .strictObject({ waiting: z.int(), oldest_since: timestamp.nullable() })
    .nullable()
    .meta({ description: "Surprising changes by upstream that wait; null if not known." }),
});

/** The state of ingestion. A failure is only a warning here, since serving continues. */
export function ingestSection(
  coordinator: CoordinatorUseCases,
  history: History,
  context: () => RuleContext,
) {
  return summarySection({
    schema: ingestSchema,
    unread: "warn",
    read: async () => {
      const [status, unsettled] = await Promise.all([
        coordinator.status(),
        coordinator.unsettledRuns(),
      ]);
      const lastRuns = await findLastRuns(history, unsettled);
      const { ended, succeeded } = lastRuns;
      const { pause, queued, running } = status;
      const now = context();
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
    },
  });
}

function describeRun({ state, outcome, trigger, finished_at, duration_ms }: ListedRun) {
  return { state, outcome, trigger, finished_at: finished_at, duration_ms: duration_ms };
}

const backupsSchema = z.strictObject({
  status: backupStatus,
  newest_at: timestamp.nullable(),
  newest_verified_at: timestamp.nullable(),
});

/** The state of the backups. */
export function backupsSection(access: BackupAccess, context: () => RuleContext) {
  return summarySection({
    schema: backupsSchema,
    unread: "warn",
    read: async () => {
      const backups = await newestTimes(access.store);
      const status = judgeBackups(backups, context());
      return {
        status: STATUS_CHECKS[status].status,
        shown: {
          status,
          newest_at: backups.newestFinishedAt,
          newest_verified_at: backups.newestVerifiedAt,
        },
      };
    },
  });
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
      z.strictObject({
        rule: z.enum(RULE_NAMES),
        severity: z.enum(SEVERITIES),
        state: z.enum(ALERT_STATES),
        since: timestamp,
        suppressed: z.boolean(),
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
export function alertsSection(alerts: AlertUseCases, context: () => RuleContext) {
  return summarySection({
    schema: alertsSchema,
    unread: "warn",
    read: async () => {
      const { lastRun, targets } = await alerts.status();
      const webhooks = targets.length;
      if (lastRun === null) return { status: "warn", shown: { ...NOTHING_EVALUATED, webhooks } };
      const { worst, started_at, firing, nodata, pending, results } = lastRun;
      const notified = checkWebhooks(targets, context()).map(({ status }) => status);
      return {
        status: gravest([worst === "pass" ? "pass" : "warn", ...notified]),
        shown: {
          worst,
          evaluated_at: started_at,
          firing,
          nodata,
          pending,
          webhooks,
          alerts: results
            .filter(({ state }) => state !== "inactive")
            .map(({ rule, severity, state, since, suppressed }) => ({
              rule,
              severity,
              state,
              since,
              suppressed,
            })),
        },
      };
    },
  });
}
