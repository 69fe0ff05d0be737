import { type EnqueueRequest, plainRun } from "./run-record.ts";
import { LAST_TIME_MS } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";

/** Job of a cron trigger. `watch` evaluates the alerts and reconciles the stores. */
type CronJob =
  | { readonly job: "ingest"; readonly request: EnqueueRequest }
  | { readonly job: "watch" | "back_up" | "verify_backup" };

export type CronJobName = CronJob["job"];

export const INGEST_CRON = "17 4 * * *";

export const WATCH_CRON = "*/5 * * * *";

/** Job of each string of `crons` in wrangler.toml; a test checks that the two agree. */
export const CRON_JOBS: { readonly [cron: string]: CronJob } = {
  [INGEST_CRON]: {
    job: "ingest",
    request: plainRun({ trigger: "cron", requested_by: "cron", note: null }),
  },
  [WATCH_CRON]: { job: "watch" },
  // Runs after the daily ingest, so that a backup includes its publication.
  "47 4 * * *": { job: "back_up" },
  "27 5 * * SUN": { job: "verify_backup" },
};

/** Returns the job of a cron trigger. Throws if there is none, or if nothing could store the time. */
export function cronJob(cron: string, scheduledTime: EpochMs): CronJob {
  const job = Object.hasOwn(CRON_JOBS, cron) ? CRON_JOBS[cron] : undefined;
  if (job === undefined) throw new Error(`no job for the cron trigger "${cron}"`);
  if (!(scheduledTime >= 0 && scheduledTime <= LAST_TIME_MS))
    throw new RangeError(`the scheduledTime of "${cron}" must be within the years 1970 to 9999`);
  return job;
}

export function scheduledJobs() {
  return Object.entries(CRON_JOBS).map(([cron, { job }]) => ({ cron, job }));
}

export function ingestCrons(): string[] {
  return Object.entries(CRON_JOBS)
    .filter(([, { job }]) => job === "ingest")
    .map(([cron]) => cron);
}
