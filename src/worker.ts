import { waitUntil } from "cloudflare:workers";
import { createAdminApp } from "./admin/app.ts";
import { type Config, loadConfig } from "./config.ts";
import { BACKUP_INSTANCE_NAME, INSTANCE_NAME } from "./ingest/durable-object.ts";
import { backupCron, cronRequest } from "./ingest/schedule.ts";
import { describeError, logLine } from "./log.ts";
import { createRpcHandler, isRpcRequest } from "./rpc/handler.ts";
import { embeddedSnapshot } from "./sources/embedded-snapshot.ts";
import { CachedCatalogReader } from "./storage/cached-catalog-reader.ts";
import { createCatalogStore } from "./storage/catalog-store.ts";

export { BackupCoordinator } from "./backup/durable-object.ts";
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

export default {
  async fetch(request, env) {
    doors ??= openDoors(env);
    return isRpcRequest(request) ? doors.rpc(request) : doors.admin(request);
  },

  async scheduled({ cron, scheduledTime }, env) {
    const backup = backupCron(cron);
    if (backup !== undefined)
      return env.BACKUPS.getByName(BACKUP_INSTANCE_NAME).tick(cron, scheduledTime, backup);
    await coordinator(env).tick(cron, scheduledTime, cronRequest(cron));
  },
} satisfies ExportedHandler<Env>;
