import { z } from "zod";
import { isOpen, RUN_OUTCOMES, RUN_STATES, RUN_TRIGGERS, STAGES } from "../ingest/run.ts";
import type { CatalogReader } from "../storage/catalog-reader.ts";
import type { History } from "../storage/history.ts";
import { WORST } from "../alerts/alert-run.ts";
import { ALERT_STATES } from "../alerts/alert-state.ts";
import { RULE_NAMES, SEVERITIES } from "../alerts/rule.ts";
import type { AlertUseCases } from "./alert-calls.ts";
import type { CoordinatorUseCases } from "./coordinator.ts";
import { summarySection } from "./dashboard-routes.ts";
import { listRuns } from "./run-list.ts";
import { listCounts, sha256Hex, timestamp } from "./run-schema.ts";

const READ_DEADLINE_MS = 2_000;
/** Runs among which the last one that ended is looked for. */
const RECENT_RUNS = 20;

const catalogSchema = z.strictObject({
  generation: z.int(),
  published_at: timestamp,
  catalog_sha256: sha256Hex,
  counts: listCounts,
  locales: z.int(),
});

/** What is published. */
export function catalogSection(reader: CatalogReader) {
  return summarySection(catalogSchema, async () => {
    const current = await reader.current({ signal: AbortSignal.timeout(READ_DEADLINE_MS) });
    if (!current.ok) throw new Error(current.reason);
    const { generation, published_at, catalog_sha256, counts, locales } = current.manifest;
    return {
      generation,
      published_at,
      catalog_sha256,
      counts,
      locales: Object.keys(locales).length,
    };
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

/** How ingestion is going. */
export function ingestSection(coordinator: CoordinatorUseCases, history: History) {
  return summarySection(ingestSchema, async () => {
    const [status, unsettled] = await Promise.all([
      coordinator.status(),
      coordinator.unsettledRuns(),
    ]);
    const [recent, succeeded] = await Promise.all([
      listRuns(history, { limit: RECENT_RUNS }, unsettled),
      listRuns(history, { limit: 1, state: "succeeded" }, unsettled),
    ]);
    const { pause, queued, running } = status;
    const runs = recent.ok ? recent.runs : [];
    const last = runs.find(({ state }) => !isOpen(state) && state !== "skipped");
    return {
      paused: pause !== null,
      paused_at: pause?.at ?? null,
      queued: queued.length,
      running: running && {
        stage: running.stage,
        progress: running.progress,
        started_at: running.startedAt,
      },
      last_run:
        last === undefined
          ? null
          : {
              state: last.state,
              outcome: last.outcome,
              trigger: last.trigger,
              finished_at: last.finishedAt,
              duration_ms: last.durationMs,
            },
      last_success_at: (succeeded.ok && succeeded.runs[0]?.finishedAt) || null,
    };
  });
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

/** What the last evaluation of the alerts found; messages may name people and webhooks. */
export function alertsSection(alerts: AlertUseCases) {
  return summarySection(alertsSchema, async () => {
    const { lastRun } = await alerts.status();
    if (lastRun === null) return NOTHING_EVALUATED;
    const { worst, startedAt, firing, nodata, pending, results } = lastRun;
    return {
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
    };
  });
}
