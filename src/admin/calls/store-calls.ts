import { withDeadline } from "../../storage/deadline.ts";
import { CoordinatorUnavailable } from "./coordinator-calls.ts";

/** A store that a route needs could not be reached, or did not answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  readonly store: keyof typeof STORES;
  /** After this time another try is worth it. */
  readonly retryAfterSeconds = 10;

  constructor(store: keyof typeof STORES, cause: unknown) {
    super(`${STORES[store].name} does not answer`, { cause });
    this.store = store;
  }
}

/** What is asked of a store, and how long an answer waits for it. */
const STORES = {
  history: { name: "D1", deadlineMs: 5_000 },
  backups: { name: "R2", deadlineMs: 10_000 },
} as const;

/**
 * What D1 answers.
 *
 * @throws StoreUnavailable
 */
export async function askHistory<T>(call: Promise<T>): Promise<T> {
  return ask("history", call);
}

/**
 * What R2 answers about backups; `deadlineMs` is for what takes longer than looking at them.
 *
 * @throws StoreUnavailable
 * @throws CoordinatorUnavailable where the call asked the coordinator too, and it does not answer.
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
