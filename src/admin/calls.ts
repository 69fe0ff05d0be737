/** Calls the Durable Objects and stores within deadlines. All calls reject with Unavailable. */
import type { Monitor } from "../monitor/monitor.ts";
import type { Coordinator } from "../coordinator/coordinator.ts";
import { StoreTimeout, withDeadline } from "../platform/deadline.ts";
import { type CallPolicy, COORDINATOR_CALLS, MONITOR_CALLS } from "../platform/object-calls.ts";
import type { DurationMs } from "../platform/units.ts";
import type { Refusal } from "./http/route.ts";

/** The parts of the service that requests need, with advice while one does not answer. */
const PARTS = {
  coordinator:
    "The coordinator does not answer. A change may or may not have taken effect. Repeat it, with its Idempotency-Key if it starts work.",
  alerts:
    "The alert monitor does not answer. It may still be evaluating: see GET /admin/alerts/runs.",
  history: "The history in D1 cannot be read. Serving and ingestion continue. Try again later.",
  backups: "The backups in R2 cannot be reached. Serving continues. It is safe to try again later.",
  archive: "The archive in R2 cannot be reached. Nothing was queued. Try again later.",
  search: "The files of the search cannot be read now. Try again later.",
  ledger:
    "R2 has lost or damaged the list of held changes. The next run finds them again, and they wait again: queue one.",
} as const;

/** A Durable Object or a store could not be reached, was overloaded, or did not answer in time. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
  readonly part: keyof typeof PARTS;

  constructor(part: keyof typeof PARTS, cause?: unknown) {
    super(`${part}: no answer`, { cause });
    this.part = part;
  }
}

/** Returns advice about stored state of another version. RPC drops the error's class, but not its name. */
export function otherVersion(cause: unknown): string | null {
  if (cause instanceof Unavailable) return otherVersion(cause.cause);
  return cause instanceof Error && cause.name === "OtherVersion" ? cause.message : null;
}

/** The answer to a request that an outage or a bug interrupted. */
export function refusalOf(cause: unknown): Refusal {
  if (!(cause instanceof Unavailable))
    return { problem: { status: 500, code: "internal", detail: "Internal error." } };
  const other = otherVersion(cause);
  if (other !== null) return { problem: { status: 503, code: "other_version", detail: other } };
  return {
    problem: { status: 503, code: `${cause.part}_unavailable`, detail: PARTS[cause.part] },
    headers: { "retry-after": "10" },
  };
}

const DEADLINES_MS = { history: 5_000, backups: 10_000, search: 5_000 } as const;

/** Awaits an answer of D1 (`history`), R2 (`backups`) or the static assets (`search`). Throws Unavailable if there is none in time. */
export async function orUnavailable<T>(
  store: keyof typeof DEADLINES_MS,
  call: Promise<T>,
  deadlineMs: DurationMs = DEADLINES_MS[store],
): Promise<T> {
  try {
    return await withDeadline(store, deadlineMs, call);
  } catch (cause) {
    throw cause instanceof Unavailable ? cause : new Unavailable(store, cause);
  }
}

/** Longest wait for data that D1 may have as well. A step may keep the coordinator busy for longer. */
const SOON_MS = 2_000;

/** Resolves to null if the coordinator does not answer soon. */
export function soonOrNull<T>(call: Promise<T>): Promise<T | null> {
  return nullIfUnavailable(withDeadline("coordinator", SOON_MS, call));
}

/** Resolves to null if the call ends with Unavailable or StoreTimeout. */
export async function nullIfUnavailable<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((cause: unknown) => {
    if (cause instanceof Unavailable || cause instanceof StoreTimeout) return null;
    throw cause;
  });
}

/** An object's calls over RPC. */
export type Remote<T> = {
  readonly [C in keyof T]: T[C] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

export type CoordinatorCalls = Remote<Pick<Coordinator, keyof typeof COORDINATOR_CALLS>>;
export type MonitorCalls = Remote<Pick<Monitor, keyof typeof MONITOR_CALLS>>;

export function coordinatorCalls(connect: () => CoordinatorCalls): CoordinatorCalls {
  return callsOf(COORDINATOR_CALLS, connect);
}

export function monitorCalls(connect: () => MonitorCalls): MonitorCalls {
  return callsOf(MONITOR_CALLS, connect);
}

type AnyCalls = { readonly [call: string]: (...args: unknown[]) => Promise<unknown> };

function callsOf<Calls>(
  policies: { readonly [call: string]: CallPolicy },
  connect: () => Calls,
): Calls {
  const calls = Object.entries(policies).map(([name, policy]) => [
    name,
    (...args: unknown[]) =>
      callObject(connect, policy, async (stub) => (stub as AnyCalls)[name]?.(...args)),
  ]);
  return Object.fromEntries(calls) as Calls; // each of `policies`, with the stub's own types
}

/**
 * Makes a call through a new stub: one that saw its object reset stays broken. An idempotent call
 * that fails is made once more, unless it took all its time, its store failed, or the object is
 * overloaded, which another call would make worse.
 */
async function callObject<Stub, T>(
  connect: () => Stub,
  { part, store, deadlineMs, isIdempotent }: CallPolicy,
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
