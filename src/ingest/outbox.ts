import { describeError } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";

/** Rows sent at a time. */
const OUTBOX_BATCH = 20;
/** After D1 refused, or did not answer, how long to leave it alone. */
const OUTBOX_RETRY_MS = 30_000;

/** Rows that wait for D1, and how they get there. */
export interface OutboxDependencies<Row> {
  /** The event of the log that says so when D1 is out of reach. */
  readonly unreachable: string;
  readonly length: () => number;
  /** The first rows, oldest first. */
  readonly rows: (limit: number) => readonly Row[];
  /** Writes rows, any number of times. */
  readonly send: (rows: readonly Row[]) => Promise<void>;
  /** Forgets rows that have been written. */
  readonly forget: (rows: readonly Row[]) => void;
  /** Is called after rows have been written and forgotten. */
  readonly sent?: (rows: readonly Row[]) => Promise<unknown>;
  readonly deadlineMs: number;
  readonly now: () => number;
  readonly log: CoordinatorDependencies["log"];
}

/** Sends waiting rows to D1, in order; what it refuses or leaves without an answer waits. */
export class Outbox<Row> {
  readonly #deps: OutboxDependencies<Row>;
  #retryAt = 0;

  constructor(deps: OutboxDependencies<Row>) {
    this.#deps = deps;
  }

  /** When rows are to be sent next (milliseconds since 1970); null if none wait. */
  dueAt(): number | null {
    if (this.#deps.length() === 0) return null;
    return Math.min(this.#retryAt, this.#deps.now() + OUTBOX_RETRY_MS);
  }

  /** Sends what waits, for as long as D1 takes it. Never throws. */
  async drain(): Promise<void> {
    const { rows, send, forget, sent, now } = this.#deps;
    while (now() >= (this.dueAt() ?? Infinity)) {
      const batch = rows(OUTBOX_BATCH);
      if (batch.length === 0) return;
      try {
        await this.#inTime(send(batch));
        forget(batch);
        if (sent !== undefined) await this.#inTime(sent(batch));
      } catch (cause) {
        this.#retryAt = now() + OUTBOX_RETRY_MS;
        this.#deps.log("warn", this.#deps.unreachable, describeError(cause));
      }
    }
  }

  /** A promise of D1 may never settle, and the alarm must not wait for it. */
  #inTime(work: Promise<unknown>): Promise<unknown> {
    return withDeadline("D1", this.#deps.deadlineMs, work);
  }
}
