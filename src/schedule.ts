import type { EnqueueRequest } from "./ingest/queue.ts";

/**
 * What a cron trigger asks for; `watch` is to evaluate the alerts, and to compare the stores with
 * what is recorded.
 */
export type CronJob =
  | { readonly job: "ingest"; readonly request: EnqueueRequest }
  | { readonly job: "watch" | "back_up" | "verify_backup" };

/** What each string of `crons` in wrangler.toml asks for; a test asserts that the two agree. */
export const CRON_JOBS: { readonly [cron: string]: CronJob } = {
  "17 4 * * *": {
    job: "ingest",
    request: {
      trigger: "cron",
      mode: "incremental",
      source: null,
      candidate: null,
      forced: false,
      requested_by: "cron",
      note: null,
      ifPaused: "queue",
    },
  },
  "*/5 * * * *": { job: "watch" },
  // After the daily ingest, so that a backup has what it published.
  "47 4 * * *": { job: "back_up" },
  "27 5 * * SUN": { job: "verify_backup" },
};

/** The job of a cron trigger. Throws for a trigger that nobody knows. */
export function cronJob(cron: string): CronJob {
  const job = Object.hasOwn(CRON_JOBS, cron) ? CRON_JOBS[cron] : undefined;
  if (job === undefined) throw new Error(`no job for the cron trigger "${cron}"`);
  return job;
}

/** The cron triggers that ask for an ingest run. */
export function ingestCrons(): string[] {
  return Object.entries(CRON_JOBS)
    .filter(([, { job }]) => job === "ingest")
    .map(([cron]) => cron);
}
