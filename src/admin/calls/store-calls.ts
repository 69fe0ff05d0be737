import { withDeadline } from "../../storage/deadline.ts";
import { CoordinatorUnavailable } from "./coordinator-calls.ts";

/** A store could not be reached, or did not answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  readonly store: keyof typeof STORES;
  readonly retryAfterSeconds = 10;

  constructor(store: keyof typeof STORES, cause: unknown) {
    super(`${STORES[store].name} does not answer`, { cause });
    this.store = store;
  }
}

/** The stores, by what they hold. */
const STORES = {
  history: { name: "D1", deadlineMs: 5_000 },
  backups: { name: "R2", deadlineMs: 10_000 },
} as const;

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
  store: keyof typeof STORES,
  call: Promise<T>,
  deadlineMs: number = STORES[store].deadlineMs,
): Promise<T> {
  try {
    return await withDeadline(STORES[store].name, deadlineMs, call);
  } catch (cause) {
    if (cause instanceof CoordinatorUnavailable) throw cause;
    throw new StoreUnavailable(store, cause);
  }
}
