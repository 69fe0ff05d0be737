import { describeError, logLine } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import type { Refusal } from "./route.ts";

/** How long an answer waits for D1. */
const HISTORY_DEADLINE_MS = 5_000;

/** What D1 answers, or the refusal that says it does not. */
export async function readHistory<T>(
  call: Promise<T>,
): Promise<
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }
> {
  try {
    return { ok: true, value: await withDeadline("D1", HISTORY_DEADLINE_MS, call) };
  } catch (cause) {
    logLine("warn", "history_unreadable", "D1 did not answer", describeError(cause));
    return { ok: false, refusal: UNAVAILABLE };
  }
}

const UNAVAILABLE: Refusal = {
  problem: {
    status: 503,
    code: "history_unavailable",
    detail: "The history in D1 cannot be read. Serving and ingesting go on; try again later.",
  },
  headers: { "retry-after": "10" },
};

export const BAD_CURSOR: Refusal = {
  problem: {
    status: 400,
    code: "invalid_query",
    detail: "cursor: must be the next_cursor of the page before",
  },
};
