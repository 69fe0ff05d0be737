/** The Durable Objects' methods and how each is called. Classes and callers are made from these tables. */
import type { DurationMs } from "./units.ts";

export interface CallPolicy {
  readonly part: "coordinator" | "alerts";
  /** The store in R2 that the call works with. */
  readonly store?: "archive" | "backups";
  readonly deadlineMs: DurationMs;
  /** Whether a second call has the same effect as one. */
  readonly isIdempotent: boolean;
}

type Calls = { readonly [method: string]: CallPolicy };

/** Under `npm start`, one thread runs the whole Worker, and a call may wait while parts are compressed. */
const ONCE = { part: "coordinator", deadlineMs: 25_000, isIdempotent: false } as const;
const IDEMPOTENT = { ...ONCE, isIdempotent: true } as const;

export const COORDINATOR_CALLS = {
  enqueue: { ...ONCE, store: "archive" },
  pause: IDEMPOTENT,
  resume: IDEMPOTENT,
  cancel: IDEMPOTENT,
  rollback: IDEMPOTENT,
  takeOver: { ...IDEMPOTENT, store: "archive" },
  findRun: IDEMPOTENT,
  unwrittenRuns: IDEMPOTENT,
  versions: IDEMPOTENT,
  status: IDEMPOTENT,
  queue: IDEMPOTENT,
  ledger: IDEMPOTENT,
  decide: IDEMPOTENT,
  backUp: { ...IDEMPOTENT, store: "backups" },
  verifyBackup: { ...IDEMPOTENT, store: "backups" },
  restoreBackup: { ...IDEMPOTENT, store: "backups" },
  removeBackup: { ...ONCE, store: "backups" },
  findJob: IDEMPOTENT,
  jobs: IDEMPOTENT,
  tick: IDEMPOTENT,
  tickJob: IDEMPOTENT,
  reconcile: IDEMPOTENT,
  keepAuditEntry: IDEMPOTENT,
  setAside: IDEMPOTENT,
  forgetSetAside: IDEMPOTENT,
  claimKey: IDEMPOTENT,
} as const satisfies Calls;

/** An evaluation waits for the one before, its inputs and the webhooks. */
export const MONITOR_CALLS = {
  evaluate: { part: "alerts", deadlineMs: 90_000, isIdempotent: false },
  test: { part: "alerts", deadlineMs: 30_000, isIdempotent: false },
  status: { part: "alerts", deadlineMs: 5_000, isIdempotent: true },
  setAside: { part: "alerts", deadlineMs: 5_000, isIdempotent: true },
  forgetSetAside: { part: "alerts", deadlineMs: 5_000, isIdempotent: true },
} as const satisfies Calls;
