import { z } from "zod";
import { type ListedRun, RUN_OUTCOMES, RUN_STATES, RUN_TRIGGERS, STAGES } from "../ingest/run.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";
import type { History } from "../storage/history.ts";
import { WORST } from "../alerts/alert-run.ts";
import { ALERT_STATES } from "../alerts/alert-state.ts";
import { RULE_NAMES, SEVERITIES } from "../alerts/rule.ts";
import type { AlertUseCases } from "./alert-calls.ts";
import type { CoordinatorUseCases } from "./coordinator.ts";
import { summarySection } from "./dashboard-routes.ts";
import { findLastRuns } from "./run-list.ts";
import { listCounts, sha256Hex, timestamp } from "./run-schema.ts";

const READ_DEADLINE_MS = 2_000;

const catalogSchema = z.strictObject({
  generation: z.int(),
  published_at: timestamp,
  catalog_sha256: sha256Hex,
  counts: listCounts,
  locales: z.int(),
});

/** What is published. */
export function catalogSection(reader: CatalogReader) {
  return summarySection({
    schema: catalogSchema,
    unread: "fail",
    read: async () => {
      const current = await reader.current({ signal: AbortSignal.timeout(READ_DEADLINE_MS) });
      if (!current.ok) throw new Error(current.reason);
      const { generation, published_at, catalog_sha256, counts, locales } = current.manifest;
      return {
        status: "pass",
        shown: {
          generation,
          published_at,
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
});

/** How ingestion is going. A pause is a warning. */
export function ingestSection(coordinator: CoordinatorUseCases, history: History) {
  return summarySection({
    schema: ingestSchema,
    unread: "warn",
    read: async () => {
      const [status, unsettled] = await Promise.all([
        coordinator.status(),
        coordinator.unsettledRuns(),
      ]);
      const { ended, succeeded } = await findLastRuns(history, unsettled);
      const { pause, queued, running } = status;
      const isFine = pause === null && ended?.state !== "failed";
      return {
        status: isFine ? "pass" : "warn",
        shown: {
          paused: pause !== null,
          paused_at: pause?.at ?? null,
          queued: queued.length,
          running: running && {
            stage: running.stage,
            progress: running.progress,
            started_at: running.startedAt,
          },
          last_run: ended === undefined ? null : describeRun(ended),
          last_success_at: succeeded?.finishedAt ?? null,
        },
      };
    },
  });
}

function describeRun({ state, outcome, trigger, finishedAt, durationMs }: ListedRun) {
  return { state, outcome, trigger, finished_at: finishedAt, duration_ms: durationMs };
}

const alertsSchema = z.strictObject({
  worst: z.enum(WORST).nullable(),
  evaluated_at: timestamp.nullable().meta({ description: "Null before the first evaluation." }),
  firing: z.int(),
  nodata: z.int(),
  pending: z.int(),
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
    .meta({ description: "All that are not inactive." }),
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
 * What the last evaluation of the alerts found; messages may name people and webhooks. An alert that
 * fires is a warning here, as in the monitor's status.
 */
export function alertsSection(alerts: AlertUseCases) {
  return summarySection({
    schema: alertsSchema,
    unread: "warn",
    read: async () => {
      const { lastRun } = await alerts.status();
      if (lastRun === null) return { status: "warn", shown: NOTHING_EVALUATED };
      const { worst, startedAt, firing, nodata, pending, results } = lastRun;
      return {
        status: worst === "pass" ? "pass" : "warn",
        shown: {
          worst,
          evaluated_at: startedAt,
          firing,
          nodata,
          pending,
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
