import { waitUntil } from "cloudflare:workers";
import { ALERTS_INSTANCE, INGEST_INSTANCE } from "./instances.ts";
import notice from "../data/NOTICE.md";
import { accessVerifier } from "./admin/auth/access-jwt.ts";
import { createAdminApp } from "./admin/app.ts";
import { createAuditTrail } from "./admin/audit/audit-trail.ts";
import type { AuthenticationDependencies } from "./admin/auth/gate.ts";
import { coordinatorCalls, monitorCalls } from "./admin/calls.ts";
import { readCredentials } from "./credentials.ts";
import { loadServingConfig, type ServingConfig } from "./config.ts";
import { readLimits } from "./health/limits.ts";
import { describeError, logLine } from "./log.ts";
import { answerMetrics, type OptionalBindings } from "./rpc/metrics.ts";
import { createRpcHandler, type RpcHandler } from "./rpc/handler.ts";
import { isRpcRequest, readHead } from "./rpc/request.ts";
import { cronJob, INGEST_CRON, scheduledJobs } from "./schedule.ts";
import { CachedCatalogReader } from "./storage/cached-catalog-reader.ts";
import { createAlertHistory } from "./alerts/alert-history.ts";
import { createAuditStore } from "./storage/audit-store.ts";
import { createBackupStore } from "./storage/backup-store.ts";
import { createCatalogStore } from "./storage/catalog-store.ts";
import { createHistory } from "./coordinator/history.ts";
import { createSourceArchive } from "./storage/source-archive.ts";
import { createStoreProbes } from "./storage/probes.ts";

export { AlertMonitor } from "./alerts/durable-object.ts";
export { IngestCoordinator } from "./coordinator/durable-object.ts";
export { SegmentCompressor } from "./ingest/segment-compressor.ts";

/** The two handlers, which an isolate builds once. */
interface App {
  readonly rpc: RpcHandler;
  readonly admin: (request: Request) => Response | Promise<Response>;
}

let app: App | undefined;

function createApp(env: Env): App {
  const config = loadServingConfig(env);
  const reader = createReader(env, config);
  const audit = createAuditStore(env.HISTORY);
  const version = env.VERSION.id || "local";
  const { limits } = readLimits(env);
  const { METRICS: metrics }: Env & OptionalBindings = env;
  const admin = createAdminApp({
    ...authentication(env),
    coordinator: coordinatorCalls(() => coordinator(env)),
    history: createHistory(env.HISTORY),
    archive: createSourceArchive(env.ARCHIVE),
    backups: createBackupStore(env.BACKUPS),
    alerts: monitorCalls(() => monitor(env)),
    alertHistory: createAlertHistory(env.HISTORY),
    audit,
    probes: createStoreProbes(env.CATALOG, env.HISTORY, env.ARCHIVE),
    jobs: scheduledJobs(),
    recordChange: createAuditTrail({
      save: async (entries) => audit.save(entries),
      keep: async (entry) => coordinator(env).keepAuditEntry(entry),
      log: logLine,
    }),
    reader,
    defaultLocale: config.defaultLocale,
    limits,
    waitUntil,
    notice,
    version,
  });
  return {
    rpc: createRpcHandler({
      reader,
      defaultLocale: config.defaultLocale,
      log: (message, cause) => logLine("error", "rpc_error", message, describeError(cause)),
      measure: metrics && answerMetrics(metrics),
    }),
    admin: (request) => admin.fetch(request),
  };
}

function createReader(env: Env, config: ServingConfig): CachedCatalogReader {
  return new CachedCatalogReader({
    store: createCatalogStore(env.CATALOG, env.ARCHIVE),
    now: Date.now,
    waitUntil,
    report: (event, detail) => logLine("warn", event, detail),
    createPipe: (bytes) => new FixedLengthStream(bytes),
    manifestFreshMs: config.manifestFreshMs,
    cacheMaxBytes: config.cacheMaxBytes,
  });
}

/** Builds the authentication of the admin routes. */
function authentication(env: Env): AuthenticationDependencies {
  const credentials = readCredentials(env);
  const access = credentials.ok ? credentials.credentials.access : null;
  return {
    credentials,
    verifyAccess: access === null ? NO_ACCESS : accessVerifier(access, waitUntil),
    mayFailAgain: async (key) => (await env.AUTH_FAILURES.limit({ key })).success,
    now: Date.now,
  };
}

const NO_ACCESS: AuthenticationDependencies["verifyAccess"] = async () => ({
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
 * Runs the job of a cron trigger. Each job counts a tick once, so a retry is safe. A tick comes only
 * once, so a call is also repeated if the coordinator was overloaded or has timed out.
 */
async function runJob(cron: string, scheduledTime: number, env: Env): Promise<void> {
  const job = cronJob(cron);
  const calls = coordinatorCalls(() => coordinator(env));
  const twice = (call: () => Promise<void>) => call().catch(() => call());
  switch (job.job) {
    case "ingest":
      return twice(() => calls.tick(cron, scheduledTime, job.request));
    case "watch": {
      const asked = { trigger: "cron", requested_by: "cron", tick: scheduledTime } as const;
      const evaluate = async () => monitor(env).evaluate(asked);
      // An alert fires if the coordinator does not answer.
      const [evaluated, reconciled] = await Promise.allSettled([
        evaluate().catch(evaluate),
        twice(calls.reconcile),
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
      return twice(() => calls.tickJob(cron, scheduledTime, task));
    }
    default:
      job satisfies never;
  }
}

// An unhandled rejection is a bug. The platform's own notice is not a JSON log line.
addEventListener("unhandledrejection", ({ reason }) =>
  logLine("error", "unhandled_rejection", "a rejection was not handled", describeError(reason)),
);

export default {
  fetch(request, env) {
    app ??= createApp(env);
    const head = readHead(request);
    return isRpcRequest(head) ? app.rpc(request, head) : app.admin(request);
  },

  async scheduled({ cron, scheduledTime }, env) {
    // `wrangler dev` names no trigger where a person asks for one.
    await runJob(cron || INGEST_CRON, scheduledTime, env);
  },
} satisfies ExportedHandler<Env>;
