import type { EnqueueRequest } from "./queue.ts";

/**
 * What strings of `crons` in wrangler.toml ask of the ingest; a test asserts that those here and
 * below are all there are.
 */
export const CRON_REQUESTS: { readonly [cron: string]: EnqueueRequest } = {
  "17 4 * * *": {
    trigger: "cron",
    mode: "incremental",
    source: null,
    forced: false,
    requestedBy: "cron",
    note: null,
    ifPaused: "queue",
  },
};

/** The run that a cron trigger asks for. Throws for a trigger that nobody knows. */
export function cronRequest(cron: string): EnqueueRequest {
  const request = Object.hasOwn(CRON_REQUESTS, cron) ? CRON_REQUESTS[cron] : undefined;
  if (request === undefined) throw new Error(`no job for the cron trigger "${cron}"`);
  return request;
}

/** What the other strings of `crons` ask of backups: making one, or verifying the newest. */
export const BACKUP_CRONS: { readonly [cron: string]: "run" | "verify_newest" } = {
  "37 3 * * *": "run",
  "7 5 * * SUN": "verify_newest",
};

/** What a cron trigger asks of backups; undefined if it asks for something else. */
export function backupCron(cron: string): "run" | "verify_newest" | undefined {
  return Object.hasOwn(BACKUP_CRONS, cron) ? BACKUP_CRONS[cron] : undefined;
}
