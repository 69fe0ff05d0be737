import { MonitorUnavailable } from "../calls/alert-calls.ts";
import { CoordinatorUnavailable } from "../calls/coordinator-calls.ts";
import type { Refusal } from "./route.ts";
import { StoreUnavailable } from "../calls/store-calls.ts";

/** What a request is answered that an outage, or else a bug, has cut off. */
export function refusalOf(cause: unknown): Refusal {
  if (cause instanceof CoordinatorUnavailable)
    return unavailable(cause, "coordinator_unavailable", COORDINATOR_DETAIL);
  if (cause instanceof MonitorUnavailable)
    return unavailable(cause, "alerts_unavailable", MONITOR_DETAIL);
  if (cause instanceof StoreUnavailable)
    return unavailable(cause, `${cause.store}_unavailable`, STORE_DETAILS[cause.store]);
  return INTERNAL;
}

/** Whether a change took effect, nobody knows. */
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
  "The coordinator does not answer. Whether a change took effect is not known: look at it again before repeating it.";
const MONITOR_DETAIL =
  "The alert monitor does not answer. Whether it evaluates is not known: look at GET /admin/alerts/runs.";
const STORE_DETAILS = {
  history: "The history in D1 cannot be read. Serving and ingesting go on; try again later.",
  backups:
    "The backups in R2 cannot be reached. Serving goes on; try again later, which does no harm.",
} as const;

const INTERNAL: Refusal = {
  problem: { status: 500, code: "internal", detail: "Internal error." },
};
