import { setTimeout as sleep } from "node:timers/promises";
import { v7 } from "uuid";
import { readCredentials } from "../platform/credentials.ts";
import { newestTimes } from "../backup/read-backups.ts";
import { INPUT_TIMEOUT_MS } from "./facts.ts";
import { INGEST_INSTANCE } from "../platform/instances.ts";
import { logLine } from "../platform/log.ts";
import { OVERDUE } from "../platform/work-limit.ts";
import { ingestCrons } from "../coordinator/schedule.ts";
import { checkSettings, settingsOf } from "./settings.ts";
import { createBackupStore } from "../storage/backup-store.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { embeddedSnapshot } from "../storage/embedded-snapshot.ts";
import { createAlertHistory } from "../storage/alert-history.ts";
import { Monitor } from "./monitor.ts";
import { MonitorState } from "./monitor-state.ts";
import type { MonitorPlatform } from "./monitor-platform.ts";
import { loadAlertConfig } from "./alert-settings.ts";
import { DELIVERY_LIMITS } from "./webhook.ts";

/** Opens the monitor with the bindings of a deployment. No setting, however wrong, stops it. */
export function openMonitor(ctx: DurableObjectState, env: Env): Monitor {
  return new Monitor(platformOf(ctx, env));
}

function platformOf(ctx: DurableObjectState, env: Env): MonitorPlatform {
  const log: MonitorPlatform["log"] = (level, event, fields) =>
    logLine(level, event, event.replaceAll("_", " "), fields);
  const readStatus = async () => env.COORDINATOR.getByName(INGEST_INSTANCE).status();
  return {
    state: new MonitorState(ctx.storage, { log, now: Date.now }),
    config: loadAlertConfig(env).config,
    settingProblems: checkSettings(settingsOf(env), embeddedSnapshot(env.ASSETS).locales),
    tokens: readCredentials(env).credentials.tokens,
    crons: ingestCrons(),
    readIngest: () => readStatus().catch(readStatus),
    store: createCatalogStore(env.CATALOG, env.ARCHIVE),
    history: createAlertHistory(env.HISTORY),
    readBackups: () => newestTimes(createBackupStore(env.BACKUPS)),
    inputTimeoutMs: INPUT_TIMEOUT_MS,
    fetch: async (url, init) => fetch(url, init),
    deliveryLimits: DELIVERY_LIMITS,
    sleep: async (ms) => sleep(ms),
    restart: () => ctx.abort(OVERDUE),
    now: Date.now,
    newId: v7,
    log,
    workerVersion: env.VERSION.id || null,
  };
}
