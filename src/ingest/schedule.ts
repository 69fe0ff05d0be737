import type { EnqueueRequest } from "./queue.ts";

/** What each string of `crons` in wrangler.toml asks for; a test asserts that the two agree. */
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
