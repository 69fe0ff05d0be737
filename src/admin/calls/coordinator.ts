import type { Decision } from "../../acceptance/held-change.ts";
import type { LedgerFiles } from "../../acceptance/ledger-files.ts";
import type { CoordinatorStatus } from "../../coordinator/status.ts";
import type { PauseRequest } from "../../jobs/pause.ts";
import type { RollbackResult } from "../../ingest/roll-back.ts";
import type { EnqueueRequest, EnqueueResult, QueuedRun } from "../../ingest/queue.ts";
import type { CancelRequest, CancelResult, PauseAnswer } from "../../coordinator/scheduler.ts";
import type { ListedRun, Run } from "../../ingest/run.ts";
import type { Version } from "../../ingest/versions.ts";

/** The calls of the coordinator that routes make. Each rejects with CoordinatorUnavailable. */
export interface CoordinatorUseCases {
  enqueue(request: EnqueueRequest): Promise<EnqueueResult>;
  pause(request: PauseRequest, cancelRunning: boolean): Promise<PauseAnswer>;
  resume(): Promise<PauseAnswer>;
  cancel(id: string, request: CancelRequest): Promise<CancelResult>;
  rollback(generation: number): Promise<RollbackResult>;
  findRun(id: string): Promise<Run | null>;
  /** Runs whose row in D1 may be old or missing: they are open, or wait to be written. */
  unsettledRuns(): Promise<readonly ListedRun[]>;
  versions(): Promise<readonly Version[]>;
  status(): Promise<CoordinatorStatus>;
  /** The waiting runs, in starting order. */
  queue(): Promise<readonly QueuedRun[]>;
  /** The ledger that upstream is compared with, and the decisions that no run has followed yet. */
  ledger(): Promise<{
    readonly files: LedgerFiles | null;
    readonly decisions: readonly Decision[];
  }>;
  decide(decisions: readonly Decision[]): Promise<void>;
}
