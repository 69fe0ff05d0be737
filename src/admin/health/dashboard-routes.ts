import * as z from "zod";
import { alertResultSchema } from "../../alerts/alert-run.ts";
import { type DeepReadonly, hexHash, listCounts, timestamp } from "../../catalog/fields.ts";
import { lastSuccess } from "../../health/catalog-rules.ts";
import { worstOf } from "../../health/check.ts";
import type { RuleName } from "../../health/rule-names.ts";
import { type EndedRun, endedRunSchema, runSchema } from "../../coordinator/run.ts";
import { coordinatorStatus } from "../../coordinator/status.ts";
import { timeText } from "../../storage/time.ts";
import { route } from "../http/route.ts";
import { answersSchema, healthStatus } from "./health-schema.ts";
import type { Platform } from "../platform.ts";
import { answerQuestions } from "./answers.ts";
import { type Observation, observe, REUSED_MS, reuse } from "./observation.ts";

const catalogSchema = z.strictObject({
  generation: z.int(),
  published_at: timestamp,
  as_of: z.iso.date().nullable().meta({ description: "The date of the airport data." }),
  catalog_sha256: hexHash,
  counts: listCounts,
  locales: z.int(),
});

const ingestSchema = z.strictObject({
  paused: z.boolean(),
  paused_at: timestamp.nullable(),
  queued: z.int(),
  running: runSchema.pick({ stage: true, progress: true, started_at: true }).nullable(),
  last_run: endedRunSchema
    .pick({ state: true, outcome: true, trigger: true, finished_at: true, duration_ms: true })
    .nullable()
    .meta({
      description:
        "The run that ended last among those that the coordinator remembers; skipped ticks do not count.",
    }),
  last_success_at: timestamp.nullable(),
  held: coordinatorStatus.shape.held,
});

const backupsSchema = z
  .strictObject({
    status: z.enum(["ok", "stale", "unverified", "no_backups"]).meta({
      description: "`stale` and `unverified`: by the rules `backup_stale` and `backup_unverified`.",
    }),
    newest_at: timestamp.nullable(),
    newest_verified_at: timestamp.nullable(),
  })
  .meta({ description: "As the last evaluation of the alerts found them." });

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

/** The parts of the public summary; null if they cannot be read. They name nobody and no reason. */
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

/**
 * `GET /dashboard/summary`: the state of the service at a glance, for everybody. The answer is 200
 * even if its `status` is `fail`: a dashboard still shows the sections.
 */
export function dashboardRoutes(platform: Platform) {
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
  { jobs, access }: Pick<Platform, "jobs"> & Pick<Summary, "access">,
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

function describeIngest({ at, coordinator }: Observation): Summary["ingest"] {
  if (coordinator === null) return null;
  const { pause, queued, running, ended, held } = coordinator;
  const last = ended.find(({ state }) => state !== "skipped");
  return {
    paused: pause !== null,
    paused_at: pause?.at ?? null,
    queued: queued.length,
    running: running && {
      stage: running.stage,
      progress: running.progress,
      started_at: running.started_at,
    },
    last_run: last === undefined ? null : describeRun(last),
    last_success_at: lastSuccess(ended, at)?.finished_at ?? null,
    held,
  };
}

function describeRun({ state, outcome, trigger, finished_at, duration_ms }: EndedRun) {
  return { state, outcome, trigger, finished_at, duration_ms };
}

/** The backups by the findings of the last evaluation; null if it could not read them. */
function describeBackups({ monitor }: Observation): Summary["backups"] {
  const findingOf = (name: RuleName) => monitor?.lastRun?.results.find(({ rule }) => rule === name);
  const [age, verification] = [findingOf("backup_stale"), findingOf("backup_unverified")];
  if (verification === undefined || !("newest_finished_at" in verification.evidence)) return null;
  const timeIn = (name: string) => {
    const at = verification.evidence[name];
    return typeof at === "string" ? at : null;
  };
  const newest_at = timeIn("newest_finished_at");
  const statusOf = () => {
    if (newest_at === null) return "no_backups";
    if (age?.status !== "pass") return "stale";
    return verification.status === "pass" ? "ok" : "unverified";
  };
  return { status: statusOf(), newest_at, newest_verified_at: timeIn("newest_verified_at") };
}

const NOTHING_EVALUATED = {
  worst: null,
  evaluated_at: null,
  firing: 0,
  nodata: 0,
  pending: 0,
  alerts: [],
};

/** The last evaluation, without its messages, which may name people and webhooks. */
function describeAlerts({ monitor }: Observation): Summary["alerts"] {
  if (monitor === null) return null;
  const { lastRun, webhooks } = monitor;
  if (lastRun === null) return { ...NOTHING_EVALUATED, webhooks };
  const { worst, started_at: evaluated_at, firing, nodata, pending, results } = lastRun;
  const alerts = results
    .filter(({ state }) => state !== "inactive")
    .map(({ rule, severity, state, since, suppressed }) => ({
      rule,
      severity,
      state,
      since,
      suppressed,
    }));
  return { worst, evaluated_at, firing, nodata, pending, webhooks, alerts };
}
