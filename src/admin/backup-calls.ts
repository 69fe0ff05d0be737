import { describeError, logLine } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import { CoordinatorUnavailable } from "./coordinator-calls.ts";
import type { Refusal } from "./route.ts";

/** How long an answer waits for the backups' place in R2. */
const BACKUPS_DEADLINE_MS = 10_000;

/**
 * What R2 tells of backups, or the refusal that says it does not.
 *
 * @throws CoordinatorUnavailable
 */
export async function readBackups<T>(
  call: Promise<T>,
): Promise<
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }
> {
  try {
    return { ok: true, value: await withDeadline("R2", BACKUPS_DEADLINE_MS, call) };
  } catch (cause) {
    if (cause instanceof CoordinatorUnavailable) throw cause;
    logLine("warn", "backups_unreadable", "R2 did not answer", describeError(cause));
    return { ok: false, refusal: UNAVAILABLE };
  }
}

const UNAVAILABLE: Refusal = {
  problem: {
    status: 503,
    code: "backups_unavailable",
    detail: "The backups in R2 cannot be read. Serving goes on; try again later.",
  },
  headers: { "retry-after": "10" },
};
