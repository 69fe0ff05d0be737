/**
 * The hold: while a backup copies what the coordinator has, or a restore replaces it, no step of a
 * run begins, no row of the run history leaves for D1 (audit entries do) and nothing is deleted from
 * the catalog's stores. Pure: no clock, no I/O.
 */
import type { RunRecord } from "./run-record.ts";

export interface Hold {
  /** Id of the job that holds. */
  readonly by: string;
  readonly kind: HoldKind;
  /** When it ends if nobody renews it (ms since 1970): a backup that died must not stop ingestion. */
  readonly until: number;
  /** Whether somebody has paused or resumed since it began. */
  readonly pauseTouched: boolean;
}

export type HoldKind = "backup" | "restore";

export interface HoldRequest {
  readonly by: string;
  readonly kind: HoldKind;
  readonly forMs: number;
}

export type HoldResult =
  | {
      readonly ok: true;
      /** Whether the step that was under way has ended, and so has the deletion of garbage. */
      readonly ready: boolean;
      /** Whether the hold has just begun: also when the one before has ended in the meantime. */
      readonly isNew: boolean;
    }
  | { readonly ok: false; readonly reason: "run_active"; readonly runId: string }
  | { readonly ok: false; readonly reason: "held"; readonly by: string };

/** Whether a hold is in force. */
export function isInForce(hold: Hold | null, now: number): hold is Hold {
  return hold !== null && hold.until > now;
}

/**
 * Decides a hold, or its renewal. A backup waits for the step under way and lets the run go on
 * later; a restore, which would replace the run, is refused while there is one.
 */
export function decideHold(
  request: HoldRequest,
  { present, running, now }: { present: Hold | null; running: RunRecord | undefined; now: number },
): { readonly result: HoldResult; readonly hold: Hold | null } {
  const { by, kind, forMs } = request;
  if (isInForce(present, now) && present.by !== by)
    return { result: { ok: false, reason: "held", by: present.by }, hold: present };
  if (kind === "restore" && running !== undefined)
    return {
      result: { ok: false, reason: "run_active", runId: running.run.id },
      hold: present,
    };
  const isNew = !isInForce(present, now);
  const pauseTouched = !isNew && present.pauseTouched;
  const ready = running === undefined || (running.leaseUntil ?? 0) <= now;
  return {
    result: { ok: true, ready, isNew },
    hold: { by, kind, until: now + forMs, pauseTouched },
  };
}
