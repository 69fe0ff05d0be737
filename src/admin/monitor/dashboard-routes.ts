import * as z from "zod";
import { alertResultSchema } from "../../schemas/alert-run.ts";
import { type DeepReadonly, timestamp } from "../../schemas/fields.ts";
import { lastSuccess } from "../../monitor/catalog-rules.ts";
import { answersSchema, healthStatus, worstOf } from "../../schemas/check.ts";
import { versionSchema } from "../../schemas/version.ts";
import { runSchema } from "../../schemas/run.ts";
import { coordinatorStatus } from "../../coordinator/status.ts";
import { timeText } from "../../platform/time.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { answerQuestions } from "./answers.ts";
import { type Observation, observe, REUSED_MS, reuse } from "./observation.ts";

const catalogSchema = versionSchema
  .pick({ generation: true, published_at: true, catalog_sha256: true, counts: true })
  .extend({
    as_of: z.iso.date().nullable().meta({ description: "The date of the airport data." }),
    locales: z.int(),
  });

const ingestSchema = z.strictObject({
  paused: z.boolean(),
  paused_at: timestamp.nullable(),
  queued: z.int(),
  running: runSchema.pick({ stage: true, progress: true, started_at: true }).nullable(),
  last_success_at: timestamp.nullable(),
  held: coordinatorStatus.shape.held,
});

const backupsSchema = z
  .strictObject({
    newest_at: timestamp.nullable(),
    newest_verified_at: timestamp.nullable(),
  })
  .meta({ description: "As the last evaluation of the alerts found them." });

const alertsSchema = z.strictObject({
  evaluated_at: timestamp.nullable().meta({ description: "Null before the first evaluation." }),
  webhooks: z.int().meta({ description: "Configured webhooks; with none, nobody is notified." }),
  alerts: z
    .array(alertResultSchema.pick({ rule: true, severity: true, state: true, since: true }))
    .meta({ description: "All alerts that are not inactive." }),
});

/** The parts of the public summary; null if they cannot be read. They name no person and no reason. */
const sections = {
  catalog: catalogSchema.nullable(),
  ingest: ingestSchema.nullable(),
  backups: backupsSchema.nullable(),
  alerts: alertsSchema.nullable(),
};

const summarySchema = z
  .strictObject({
    status: healthStatus.meta({
      description: "As in `GET /admin/monitor/status`, the audit apart.",
    }),
    at: timestamp,
    degraded: z
      .array(z.enum(Object.keys(sections)))
      .meta({ description: "Sections that could not be read." }),
    answers: answersSchema,
    access: z.boolean().meta({ description: "Whether Cloudflare Access can sign operators in." }),
    ...sections,
  })
  .meta({
    id: "DashboardSummary",
    description: "The state of the service at a glance. It names nobody and no reason.",
  });

type Summary = DeepReadonly<z.output<typeof summarySchema>>;

/** For everybody. Always 200, because a dashboard shows the sections even if the service fails. */
export function dashboardRoutes(platform: AdminPlatform) {
  const { jobs, credentials } = platform;
  const access = credentials.credentials.access !== null;
  const readSummary = reuse(REUSED_MS, platform, async () =>
    summarizeService(await observe(platform, { isPublic: true }), { jobs, access }),
  );

  const summary = route({
    method: "get",
    path: "/dashboard/summary",
    operationId: "getDashboardSummary",
    summary: "The state of the service at a glance, for a dashboard",
    description:
      "Always 200. `status` is that of `GET /admin/monitor/status`, the audit apart. A section that cannot be read is null and named in `degraded`.",
    access: "public",
    responses: {
      200: {
        description: "The summary",
        headers: { "Cache-Control": "How long the summary may be reused." },
        body: summarySchema,
      },
    },
  }).answer(async () => ({
    status: 200,
    body: await readSummary(),
    headers: { "cache-control": `public, max-age=${REUSED_MS / 1000}` },
  }));
  return [summary];
}

function summarizeService(
  observation: Observation,
  { jobs, access }: Pick<AdminPlatform, "jobs"> & Pick<Summary, "access">,
): Summary {
  const { at, checks } = observation;
  const shown = {
    catalog: describeCatalog(observation),
    ingest: describeIngest(observation),
    backups: describeBackups(observation),
    alerts: describeAlerts(observation),
  };
  return {
    status: worstOf(checks),
    at: timeText(at),
    degraded: Object.entries(shown).flatMap(([name, section]) => (section === null ? [name] : [])),
    answers: answerQuestions(observation, { jobs, isPublic: true }),
    access,
    ...shown,
  };
}

function describeCatalog({ manifest }: Observation): Summary["catalog"] {
  if (manifest === null) return null;
  const { generation, published_at, as_of, catalog_sha256, counts, locales } = manifest;
  const localeCount = Object.keys(locales).length;
  return { generation, published_at, as_of, catalog_sha256, counts, locales: localeCount };
}

function describeIngest({ coordinator }: Observation): Summary["ingest"] {
  if (coordinator === null) return null;
  const { pause, queued, running, ended, held } = coordinator;
  return {
    paused: pause !== null,
    paused_at: pause?.at ?? null,
    queued: queued.length,
    running: running && {
      stage: running.stage,
      progress: running.progress,
      started_at: running.started_at,
    },
    last_success_at: lastSuccess(ended)?.finished_at ?? null,
    held,
  };
}

/** The backups by the findings of the last evaluation; null if it could not read them. */
function describeBackups({ monitor }: Observation): Summary["backups"] {
  const found = monitor?.lastRun?.results.find(({ rule }) => rule === "backup_unverified");
  if (found === undefined || !("newest_finished_at" in found.evidence)) return null;
  const timeIn = (name: string) => {
    const at = found.evidence[name];
    return typeof at === "string" ? at : null;
  };
  return {
    newest_at: timeIn("newest_finished_at"),
    newest_verified_at: timeIn("newest_verified_at"),
  };
}

/** The last evaluation, without its messages, which may name people and webhooks. */
function describeAlerts({ monitor }: Observation): Summary["alerts"] {
  if (monitor === null) return null;
  const { lastRun, webhooks } = monitor;
  const alerts = (lastRun?.results ?? [])
    .filter(({ state }) => state !== "inactive")
    .map(({ rule, severity, state, since }) => ({ rule, severity, state, since }));
  return { evaluated_at: lastRun?.started_at ?? null, webhooks, alerts };
}
