import { withDeadline } from "../../storage/deadline.ts";
import { CoordinatorUnavailable } from "./coordinator-calls.ts";
import { StoreUnavailable } from "./store-unavailable.ts";

const DEADLINES_MS = { history: 5_000, backups: 10_000 } as const;

/**
 * Waits for an answer of D1.
 *
 * @throws StoreUnavailable
 */
export async function askHistory<T>(call: Promise<T>): Promise<T> {
  return ask("history", call);
}

/**
 * Waits for an answer of R2.
 *
 * @throws StoreUnavailable
 * @throws CoordinatorUnavailable if the call needs the coordinator, which does not answer.
 */
export async function askBackups<T>(call: Promise<T>, deadlineMs?: number): Promise<T> {
  return ask("backups", call, deadlineMs);
}

async function ask<T>(
  store: keyof typeof DEADLINES_MS,
  call: Promise<T>,
  deadlineMs: number = DEADLINES_MS[store],
): Promise<T> {
  try {
    return await withDeadline(store, deadlineMs, call);
  } catch (cause) {
    if (cause instanceof CoordinatorUnavailable) throw cause;
    throw new StoreUnavailable(store, cause);
  }
}
