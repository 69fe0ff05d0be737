import { v7 } from "uuid";
import { type Config, loadConfig } from "../ingest/config.ts";
import { CoordinatorState } from "./state.ts";
import { Pipeline } from "../ingest/pipeline.ts";
import { describeError, logLine } from "../platform/log.ts";
import { OVERDUE } from "../platform/work-limit.ts";
import { droppedUpstream } from "../sources/dropped-upstream.ts";
import { embeddedSnapshot } from "../storage/embedded-snapshot.ts";
import { HTTP_DEADLINE_MS, httpUpstream } from "../sources/http-upstream.ts";
import type { SourceName } from "../schemas/run-words.ts";
import type { Snapshot } from "../sources/snapshot.ts";
import { embeddedUpstream, type Upstream } from "../sources/upstream.ts";
import { createAuditStore } from "../storage/audit-store.ts";
import { createBackupStore } from "../storage/backup-store.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { createDatabaseCopy } from "../storage/database-copy.ts";
import { createHistory } from "../storage/run-history.ts";
import { createHistoryTables } from "./history-tables.ts";
import { MIGRATIONS } from "../storage/migration-files.ts";
import { createDropBox, createSourceArchive } from "../storage/source-archive.ts";
import { Coordinator } from "./coordinator.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";

const HISTORY_DEADLINE_MS = 10_000;

export async function openCoordinator(ctx: DurableObjectState, env: Env): Promise<Coordinator> {
  const coordinator = new Coordinator(platformOf(ctx, env));
  await coordinator.recover(await ctx.storage.getAlarm());
  return coordinator;
}

function platformOf(ctx: DurableObjectState, env: Env): CoordinatorPlatform {
  const snapshot = embeddedSnapshot(env.ASSETS);
  const { config, runProblems } = loadConfig(env, snapshot.locales);
  const settingsProblem = runProblems.length === 0 ? null : runProblems.join("; ");
  const log: CoordinatorPlatform["log"] = (level, event, fields) =>
    logLine(level, event, event.replaceAll("_", " "), fields);
  const state = new CoordinatorState(ctx.storage, { log, now: Date.now });
  if (settingsProblem !== null) log("error", "bad_settings", { problem: settingsProblem });
  const store = createCatalogStore(env.CATALOG, env.ARCHIVE, state.claim);
  const archive = createSourceArchive(env.ARCHIVE);
  const history = createHistory(env.HISTORY);
  const audit = createAuditStore(env.HISTORY);
  const tables = createHistoryTables({
    d1: env.HISTORY,
    migrations: MIGRATIONS,
    state,
    deadlineMs: HISTORY_DEADLINE_MS,
    log,
    now: Date.now,
  });
  // No caller waits for D1, which may be down.
  ctx.waitUntil(
    tables
      .make()
      .catch((cause: unknown) => log("warn", "history_unreachable", describeError(cause))),
  );
  const database = createDatabaseCopy(env.HISTORY);
  return {
    state,
    pipeline: new Pipeline({
      store,
      archive,
      upstreams: upstreamsOf(config, snapshot, env.ARCHIVE),
      snapshot,
      locales: config.locales,
      defaultLocale: config.defaultLocale,
      airportSet: config.airportSet,
      holdLimits: config.holdLimits,
      effort: config.compression,
      compress: async (task) => ctx.exports.PartCompressor.compress(task),
      now: Date.now,
    }),
    store,
    archive,
    backups: createBackupStore(env.BACKUPS),
    database: { ...database, tables: () => tables.make().then(() => database.tables()) },
    saveRuns: (rows) => tables.within(() => history.saveRuns(rows)),
    // The reconciler's first look at D1.
    endLostRuns: (open) => tables.make().then(() => history.endLostRuns(open, Date.now())),
    findMissingRuns: (ids) => tables.within(() => history.missing(ids)),
    saveAudit: (entries) => tables.within(() => audit.save(entries)),
    deleteOldRuns: () =>
      Promise.all([history.deleteOldRuns(Date.now()), audit.deleteOld(Date.now())]),
    historyDeadlineMs: HISTORY_DEADLINE_MS,
    setAlarm: (at) => (at === null ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(at)),
    restart: () => ctx.abort(OVERDUE),
    now: Date.now,
    newId: v7,
    log,
    localeSettings: { locales: config.locales, defaultLocale: config.defaultLocale },
    settingsProblem,
    source: config.source,
    workerVersion: env.VERSION.id || null,
  };
}

function upstreamsOf(
  config: Config,
  snapshot: Snapshot,
  archive: R2Bucket,
): { readonly [S in SourceName]: Upstream } {
  const limits = {
    maxBytes: config.sourceMaxBytes,
    deadlineMs: HTTP_DEADLINE_MS,
    now: Date.now,
  };
  return {
    embedded: embeddedUpstream(snapshot),
    dropped: droppedUpstream(createDropBox(archive), limits),
    ourairports: httpUpstream({
      urls: config.sourceUrls,
      allowedHosts: config.sourceAllowedHosts,
      ...limits,
      fetch: async (url, init) => fetch(url, init),
    }),
  };
}
