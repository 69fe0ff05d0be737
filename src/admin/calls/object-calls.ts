/** The calls of the Durable Objects, each with its deadline. All reject with Unavailable. */
import type { Monitor } from "../../alerts/monitor.ts";
import type { Coordinator } from "../../coordinator/coordinator.ts";
import { StoreTimeout, withDeadline } from "../../storage/deadline.ts";
import { Unavailable } from "./unavailable.ts";

interface Manner {
  readonly part: "coordinator" | "alerts";
  /** The store in R2 that the call works with. */
  readonly store?: "archive" | "backups";
  readonly deadlineMs: number;
  /** Whether a second call has the same effect as one. */
  readonly isIdempotent: boolean;
}

/** Where one thread runs all of a Worker, a call may wait while some segments are compressed. */
const ONCE = { part: "coordinator", deadlineMs: 25_000, isIdempotent: false } as const;
const IDEMPOTENT = { ...ONCE, isIdempotent: true } as const;

const OF_COORDINATOR = {
  enqueue: { ...ONCE, store: "archive" },
  pause: IDEMPOTENT,
  resume: IDEMPOTENT,
  cancel: IDEMPOTENT,
  rollback: IDEMPOTENT,
  findRun: IDEMPOTENT,
  unsettledRuns: IDEMPOTENT,
  versions: IDEMPOTENT,
  status: IDEMPOTENT,
  queue: IDEMPOTENT,
  ledger: IDEMPOTENT,
  decide: IDEMPOTENT,
  backUp: { ...ONCE, store: "backups" },
  verifyBackup: { ...IDEMPOTENT, store: "backups" },
  restoreBackup: { ...ONCE, store: "backups" },
  removeBackup: { ...ONCE, store: "backups" },
  findJob: IDEMPOTENT,
  jobs: IDEMPOTENT,
  tick: IDEMPOTENT,
  tickJob: IDEMPOTENT,
  reconcile: IDEMPOTENT,
} as const satisfies { readonly [C in keyof Coordinator]?: Manner };

/** An evaluation waits for the previous one, for its inputs and for the webhooks. */
const OF_MONITOR = {
  evaluate: { part: "alerts", deadlineMs: 90_000, isIdempotent: false },
  test: { part: "alerts", deadlineMs: 30_000, isIdempotent: false },
  status: { part: "alerts", deadlineMs: 5_000, isIdempotent: true },
} as const satisfies { readonly [C in keyof Monitor]?: Manner };

/** An object's calls as they are over RPC. */
type Remote<T> = {
  readonly [C in keyof T]: T[C] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

export type CoordinatorCalls = Remote<Pick<Coordinator, keyof typeof OF_COORDINATOR>>;
export type MonitorCalls = Remote<Pick<Monitor, keyof typeof OF_MONITOR>>;

export function coordinatorCalls(connect: () => CoordinatorCalls): CoordinatorCalls {
  return callsOf(OF_COORDINATOR, connect);
}

export function monitorCalls(connect: () => MonitorCalls): MonitorCalls {
  return callsOf(OF_MONITOR, connect);
}

type AnyCalls = { readonly [call: string]: (...args: unknown[]) => Promise<unknown> };

function callsOf<Calls>(manners: { readonly [call: string]: Manner }, connect: () => Calls): Calls {
  const calls = Object.entries(manners).map(([name, manner]) => [
    name,
    (...args: unknown[]) =>
      callObject(connect, manner, async (stub) => (stub as AnyCalls)[name]?.(...args)),
  ]);
  return Object.fromEntries(calls) as Calls; // each of `manners`, with the stub's own types
}

/**
 * Makes a call through a new stub: one that saw its object reset stays broken. An idempotent call
 * that fails is made once more, unless it took all its time, its store failed, or the object is
 * overloaded, which another call would make worse.
 */
export async function callObject<Stub, T>(
  connect: () => Stub,
  { part, store, deadlineMs, isIdempotent }: Manner,
  call: (stub: Stub) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const answer = call(connect()).catch((cause: unknown) => {
      throw store !== undefined && isStoreError(cause) ? new Unavailable(store, cause) : cause;
    });
    return withDeadline(part, deadlineMs, answer);
  };
  try {
    return await attempt().catch((cause: unknown) => {
      const isFinal = cause instanceof StoreTimeout || cause instanceof Unavailable;
      if (!isIdempotent || isFinal || isOverloaded(cause)) throw cause;
      return attempt();
    });
  } catch (cause) {
    throw cause instanceof Unavailable ? cause : new Unavailable(part, cause);
  }
}

/** Recognizes a store's error by its name: RPC drops the class. */
function isStoreError(cause: unknown): boolean {
  return cause instanceof Error && /^Store(Error|Timeout)$/.test(cause.name);
}

/** @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/ */
function isOverloaded(cause: unknown): boolean {
  return cause instanceof Error && "overloaded" in cause && cause.overloaded === true;
}
