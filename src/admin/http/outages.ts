import { MonitorUnavailable } from "../calls/alert-calls.ts";
import { CoordinatorUnavailable } from "../calls/coordinator-calls.ts";
import { StoreUnavailable } from "../calls/store-unavailable.ts";
import type { Refusal } from "./route.ts";

/** The answer to a request that an outage or a bug interrupted. */
export function refusalOf(cause: unknown): Refusal {
  if (cause instanceof CoordinatorUnavailable)
    return unavailable(cause, "coordinator_unavailable", COORDINATOR_DETAIL);
  if (cause instanceof MonitorUnavailable)
    return unavailable(cause, "alerts_unavailable", MONITOR_DETAIL);
  if (cause instanceof StoreUnavailable)
    return unavailable(cause, `${cause.store}_unavailable`, STORE_DETAILS[cause.store]);
  return INTERNAL;
}

function unavailable(
  { retryAfterSeconds }: { readonly retryAfterSeconds: number },
  code: string,
  detail: string,
): Refusal {
  return {
    problem: { status: 503, code, detail },
    headers: { "retry-after": String(retryAfterSeconds) },
  };
}

const COORDINATOR_DETAIL =
  "The coordinator does not answer. A change may or may not have taken effect. Repeat it: `changed` says whether it had not.";
const MONITOR_DETAIL =
  "The alert monitor does not answer. It may be evaluating all the same: see GET /admin/alerts/runs.";
const STORE_DETAILS = {
  history: "The history in D1 cannot be read. Serving and ingestion continue. Try again later.",
  backups: "The backups in R2 cannot be reached. Serving continues. It is safe to try again later.",
  archive: "The archive in R2 cannot be reached. Nothing was queued. Try again later.",
} as const;

const INTERNAL: Refusal = {
  problem: { status: 500, code: "internal", detail: "Internal error." },
};
