/** The entry point for operators and cron triggers. Serving the catalog does not load it. */
import { waitUntil } from "cloudflare:workers";
import notice from "../../data/NOTICE.md";
import { accessVerifier } from "../admin/auth/access-jwt.ts";
import { createAdminApp } from "../admin/app.ts";
import { createAuditTrail } from "../admin/audit/audit-trail.ts";
import type { Authentication } from "../admin/auth/authenticate.ts";
import { coordinatorCalls, monitorCalls } from "../admin/calls.ts";
import { createAlertHistory } from "../storage/alert-history.ts";
import { createHistory } from "../storage/run-history.ts";
import { readCredentials } from "../platform/credentials.ts";
import { readLimits } from "../monitor/alert-settings.ts";
import { ALERTS_INSTANCE, INGEST_INSTANCE } from "../platform/instances.ts";
import { describeError, logLine } from "../platform/log.ts";
import { cronJob, INGEST_CRON, scheduledJobs } from "../coordinator/schedule.ts";
import { CachedCatalogReader } from "../storage/cached-catalog-reader.ts";
import type { Suggest } from "../search/suggester.ts";
import { createAuditStore } from "../storage/audit-store.ts";
import { createBackupStore } from "../storage/backup-store.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { MANIFEST_KEY } from "../storage/keys.ts";
import { MIGRATIONS } from "../storage/migration-files.ts";
import { checkTables } from "../storage/migrations.ts";
import { createSourceArchive } from "../storage/source-archive.ts";

/** What an isolate has of its own. */
interface Shared {
  readonly reader: CachedCatalogReader;
  readonly suggest: Suggest;
  readonly defaultLocale: string;
}

export function createOperations(env: Env, { reader, suggest, defaultLocale }: Shared) {
  const audit = createAuditStore(env.HISTORY);
  const { limits } = readLimits(env);
  const store = createCatalogStore(env.CATALOG, env.ARCHIVE);
  const calls = coordinatorCalls(() => coordinator(env));
  const app = createAdminApp({
    ...authentication(env),
    coordinator: calls,
    history: createHistory(env.HISTORY),
    archive: createSourceArchive(env.ARCHIVE),
    backups: createBackupStore(env.BACKUPS),
    alerts: monitorCalls(() => monitor(env)),
    alertHistory: createAlertHistory(env.HISTORY),
    audit,
    suggest,
    probes: {
      kv: async () => env.CATALOG.get(MANIFEST_KEY, { type: "arrayBuffer" }),
      d1: () => checkTables(env.HISTORY, MIGRATIONS),
      r2: async () => env.ARCHIVE.head(MANIFEST_KEY),
    },
    jobs: scheduledJobs(),
    recordChange: createAuditTrail({
      save: async (entries) => audit.save(entries),
      keep: calls.keepAuditEntry,
      log: logLine,
    }),
    reader,
    openReader: () =>
      new CachedCatalogReader({
        store,
        now: Date.now,
        waitUntil,
        report: (event, detail) => logLine("warn", event, detail),
        createPipe: (bytes) => new FixedLengthStream(bytes),
        manifestFreshMs: 0,
        cacheMaxBytes: 0,
      }),
    defaultLocale,
    limits,
    waitUntil,
    notice,
    version: env.VERSION.id || "local",
  });
  return {
    async fetch(request: Request): Promise<Response> {
      const answer = await app.fetch(request);
      const page = await pageInstead(request, answer);
      return page === undefined ? answer : sendPage(page, { env, request, answer });
    },
  };
}

/** The page that a person gets instead of an answer for programs; undefined if there is none. */
async function pageInstead(
  { method, headers, url }: Request,
  answer: Response,
): Promise<string | undefined> {
  const isShown = method === "GET" && headers.get("accept")?.includes("text/html") === true;
  if (!isShown) return undefined;
  if (new URL(url).pathname === "/credits") return "/docs/credits";
  if (answer.status !== 404) return undefined;
  const { code }: { readonly code?: string } = await answer.clone().json();
  return code === "not_found" ? "/404" : undefined;
}

async function sendPage(
  path: string,
  {
    env,
    request,
    answer,
  }: { readonly env: Env; readonly request: Request; readonly answer: Response },
): Promise<Response> {
  const page = await env.ASSETS.fetch(new URL(path, request.url));
  const headers = new Headers(page.headers);
  headers.set("vary", "accept");
  return new Response(page.body, { status: answer.status, headers });
}

function authentication(env: Env): Authentication {
  const credentials = readCredentials(env);
  const { access } = credentials.credentials;
  return {
    credentials,
    verifyAccess: access === null ? NO_ACCESS : accessVerifier(access),
    mayFailAgain: async (key) => (await env.AUTH_FAILURES.limit({ key })).success,
    now: Date.now,
  };
}

const NO_ACCESS: Authentication["verifyAccess"] = async () => ({
  ok: false,
  reason: "refused",
});

/** Gets a new stub for each call, because a stub stays broken after its object was reset. */
function coordinator(env: Env) {
  return env.COORDINATOR.getByName(INGEST_INSTANCE);
}

function monitor(env: Env) {
  return env.ALERTS.getByName(ALERTS_INSTANCE);
}

/**
 * Runs the job of a cron trigger. Each job counts a tick once, so a call is repeated even if the
 * coordinator was overloaded or has timed out: the tick does not come again.
 */
export async function runCron(
  { cron, scheduledTime }: Pick<ScheduledController, "cron" | "scheduledTime">,
  env: Env,
): Promise<void> {
  // `wrangler dev` names no trigger when a person starts one.
  const trigger = cron || INGEST_CRON;
  const job = cronJob(trigger, scheduledTime);
  const calls = coordinatorCalls(() => coordinator(env));
  const withOneRetry = (call: () => Promise<void>) => call().catch(() => call());
  switch (job.job) {
    case "ingest":
      return withOneRetry(() => calls.tick(trigger, scheduledTime, job.request));
    case "watch": {
      const request = { trigger: "cron", requested_by: "cron", tick: scheduledTime } as const;
      const evaluate = async () => monitor(env).evaluate(request, Date.now());
      // An alert fires if the coordinator does not answer.
      const [evaluated, reconciled] = await Promise.allSettled([
        evaluate().catch(evaluate),
        withOneRetry(() => calls.reconcile(Date.now())),
      ]);
      if (reconciled.status === "rejected")
        logLine(
          "warn",
          "reconcile_failed",
          "the coordinator did not answer",
          describeError(reconciled.reason),
        );
      if (evaluated.status === "rejected") throw evaluated.reason;
      return;
    }
    case "back_up":
    case "verify_backup": {
      const task = job.job;
      return withOneRetry(() => calls.tickJob(trigger, scheduledTime, task));
    }
    default:
      job satisfies never;
  }
}
