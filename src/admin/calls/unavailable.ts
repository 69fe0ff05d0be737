import { StoreTimeout, withDeadline } from "../../storage/deadline.ts";
import type { Refusal } from "../http/route.ts";

/** What requests need, when to try again, and what to do meanwhile. */
const PARTS = {
  coordinator: {
    retryAfterSeconds: 5,
    detail:
      "The coordinator does not answer. A change may or may not have taken effect. Repeat it: `changed` is false if it had.",
  },
  alerts: {
    retryAfterSeconds: 10,
    detail:
      "The alert monitor does not answer. It may be evaluating all the same: see GET /admin/alerts/runs.",
  },
  history: {
    retryAfterSeconds: 10,
    detail: "The history in D1 cannot be read. Serving and ingestion continue. Try again later.",
  },
  backups: {
    retryAfterSeconds: 10,
    detail:
      "The backups in R2 cannot be reached. Serving continues. It is safe to try again later.",
  },
  archive: {
    retryAfterSeconds: 10,
    detail: "The archive in R2 cannot be reached. Nothing was queued. Try again later.",
  },
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

/** The answer to a request that an outage or a bug interrupted. */
export function refusalOf(cause: unknown): Refusal {
  if (!(cause instanceof Unavailable))
    return { problem: { status: 500, code: "internal", detail: "Internal error." } };
  const { retryAfterSeconds, detail } = PARTS[cause.part];
  return {
    problem: { status: 503, code: `${cause.part}_unavailable`, detail },
    headers: { "retry-after": String(retryAfterSeconds) },
  };
}

const DEADLINES_MS = { history: 5_000, backups: 10_000 } as const;

/** Waits for the answer of D1 (`history`) or R2 (`backups`). Rejects with Unavailable. */
export async function ask<T>(
  store: keyof typeof DEADLINES_MS,
  call: Promise<T>,
  deadlineMs: number = DEADLINES_MS[store],
): Promise<T> {
  try {
    return await withDeadline(store, deadlineMs, call);
  } catch (cause) {
    throw cause instanceof Unavailable ? cause : new Unavailable(store, cause);
  }
}

/** Longest wait for what D1 may have as well. A step may keep the coordinator busy for longer. */
const SOON_MS = 2_000;

/** Rejects with StoreTimeout if the coordinator does not answer soon. */
export function soon<T>(call: Promise<T>): Promise<T> {
  return withDeadline("coordinator", SOON_MS, call);
}

/** Resolves to null if the call ends with Unavailable or StoreTimeout. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((cause: unknown) => {
    if (cause instanceof Unavailable || cause instanceof StoreTimeout) return null;
    throw cause;
  });
}
