import type { BackupJobCalls } from "./backup-use-cases.ts";
import type { CoordinatorUseCases } from "./coordinator.ts";
import { StoreTimeout, withDeadline } from "../../storage/deadline.ts";
import { StoreUnavailable } from "./store-unavailable.ts";

/** The coordinator could not be reached, was overloaded, or did not answer in time. */
export class CoordinatorUnavailable extends Error {
  override readonly name = "CoordinatorUnavailable";
  /** Time to wait before the next try. */
  readonly retryAfterSeconds = 5;
}

/** Where one thread runs all of a Worker, a call may wait while some segments are compressed. */
const CALL_DEADLINE_MS = 25_000;

/** Whether a call may be made twice with the same end. */
type Repeatable = "idempotent" | "once";

/**
 * Calls the coordinator, each time through a new stub: one that saw its object reset stays broken.
 * An idempotent call that fails is made once more, unless it took all its time or the object is
 * overloaded, which another call would make worse.
 *
 * @throws CoordinatorUnavailable, or the StoreUnavailable that `call` throws.
 */
export async function callCoordinator<Stub, T>(
  connect: () => Stub,
  repeatable: Repeatable,
  call: (stub: Stub) => Promise<T>,
): Promise<T> {
  const attempt = async () => withDeadline("coordinator", CALL_DEADLINE_MS, call(connect()));
  try {
    return await attempt().catch((cause: unknown) => {
      const isFinal = cause instanceof StoreTimeout || cause instanceof StoreUnavailable;
      if (repeatable === "once" || isFinal || isOverloaded(cause)) throw cause;
      return attempt();
    });
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause;
    throw new CoordinatorUnavailable("the coordinator does not answer", { cause });
  }
}

/** Every call that the routes make, and whether it may be made twice with the same end. */
const CALLS: { readonly [C in keyof (CoordinatorUseCases & BackupJobCalls)]: Repeatable } = {
  enqueue: "once",
  pause: "idempotent",
  resume: "idempotent",
  cancel: "idempotent",
  rollback: "idempotent",
  findRun: "idempotent",
  unsettledRuns: "idempotent",
  versions: "idempotent",
  status: "idempotent",
  queue: "idempotent",
  ledger: "idempotent",
  decide: "idempotent",
  backUp: "once",
  verifyBackup: "idempotent",
  restoreBackup: "once",
  removeBackup: "once",
  findJob: "idempotent",
  jobs: "idempotent",
};

type Calls = CoordinatorUseCases & BackupJobCalls;
type AnyCalls = { readonly [call: string]: (...args: unknown[]) => Promise<unknown> };

/** The coordinator's calls, each through a stub of its own. */
export function coordinatorCalls(connect: () => Calls): Calls {
  const calls = Object.entries(CALLS).map(([name, repeatable]) => [
    name,
    (...args: unknown[]) =>
      callCoordinator(connect, repeatable, async (stub) =>
        (stub as unknown as AnyCalls)[name]?.(...args).catch((cause: unknown) => {
          throw isStoreError(cause) ? new StoreUnavailable(storeOf(name), cause) : cause;
        }),
      ),
  ]);
  return Object.fromEntries(calls) as Calls; // each of `CALLS`, with the stub's own types
}

/** Recognizes a store's error by its name: RPC drops the class. */
function isStoreError(cause: unknown): boolean {
  return cause instanceof Error && /^Store(Error|Timeout)$/.test(cause.name);
}

/** The store in R2 that a call works with. */
function storeOf(call: string): "archive" | "backups" {
  return call === "enqueue" ? "archive" : "backups";
}

/** Longest wait for what D1 may have as well. A step may keep the coordinator busy for longer. */
const SOON_MS = 2_000;

/** Rejects with StoreTimeout if the coordinator does not answer soon. */
export function soon<T>(call: Promise<T>): Promise<T> {
  return withDeadline("coordinator", SOON_MS, call);
}

/** Resolves to null if the coordinator is unavailable or a call times out. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((cause: unknown) => {
    if (cause instanceof CoordinatorUnavailable || cause instanceof StoreTimeout) return null;
    throw cause;
  });
}

/** @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/ */
function isOverloaded(cause: unknown): boolean {
  return cause instanceof Error && "overloaded" in cause && cause.overloaded === true;
}
