import { waitUntil } from "cloudflare:workers";
import { createAdminApp } from "./admin/app.ts";
import { MONITOR_NAME } from "./alerts/monitor.ts";
import { type Config, loadConfig } from "./config.ts";
import { INSTANCE_NAME } from "./ingest/durable-object.ts";
import { describeError, logLine } from "./log.ts";
import { createRpcHandler, isRpcRequest } from "./rpc/handler.ts";
import { cronJob } from "./schedule.ts";
import { embeddedSnapshot } from "./sources/embedded-snapshot.ts";
import { CachedCatalogReader } from "./storage/cached-catalog-reader.ts";
import { createCatalogStore } from "./storage/catalog-store.ts";

export { AlertMonitor } from "./alerts/durable-object.ts";
export { IngestCoordinator } from "./ingest/durable-object.ts";

/** What an isolate builds once. */
interface Doors {
  readonly rpc: (request: Request) => Promise<Response>;
  readonly admin: (request: Request) => Response | Promise<Response>;
}

let doors: Doors | undefined;

function openDoors(env: Env): Doors {
  const config = loadConfig(env, embeddedSnapshot.locales);
  const reader = createReader(env, config);
  const admin = createAdminApp({
    tokens: config.adminTokens,
    ingest: {
      enqueue: (request) => coordinator(env).enqueue(request),
      findRun: (id) => coordinator(env).findRun(id),
    },
    reader,
    now: Date.now,
  });
  return {
    rpc: createRpcHandler({
      reader,
      defaultLocale: config.defaultLocale,
      log: (message, cause) => logLine("error", "rpc_error", message, describeError(cause)),
    }),
    admin: (request) => admin.fetch(request),
  };
}

function createReader(env: Env, config: Config): CachedCatalogReader {
  return new CachedCatalogReader({
    store: createCatalogStore(env.CATALOG, env.ARCHIVE),
    now: Date.now,
    waitUntil,
    report: (event, detail) => logLine("warn", event, detail),
    manifestFreshMs: config.manifestFreshMs,
    cacheMaxBytes: config.cacheMaxBytes,
  });
}

/** A stub for each call: one that saw its object reset stays broken. */
function coordinator(env: Env) {
  return env.COORDINATOR.getByName(INSTANCE_NAME);
}

function monitor(env: Env) {
  return env.ALERTS.getByName(MONITOR_NAME);
}

/** Does the job of a cron trigger. */
async function runJob(cron: string, scheduledTime: number, env: Env): Promise<void> {
  const job = cronJob(cron);
  switch (job.job) {
    case "ingest":
      return coordinator(env).tick(cron, scheduledTime, job.request);
    case "evaluate_alerts":
      await monitor(env).evaluate({ trigger: "cron", requestedBy: "cron", tick: scheduledTime });
      return;
    default:
      job satisfies never;
  }
}

export default {
  async fetch(request, env) {
    doors ??= openDoors(env);
    return isRpcRequest(request) ? doors.rpc(request) : doors.admin(request);
  },

  async scheduled({ cron, scheduledTime }, env) {
    await runJob(cron, scheduledTime, env);
  },
} satisfies ExportedHandler<Env>;
