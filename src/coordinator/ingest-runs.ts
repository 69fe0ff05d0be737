import { timeText } from "../platform/time.ts";
import type { EpochMs, Instant } from "../platform/units.ts";
import type { CoordinatorState } from "./state.ts";
import { decideEnqueue, decideTick, type EnqueueResult } from "./run-queue.ts";
import { type EnqueueRequest, isRun, newRun, type RunRecord } from "./run-record.ts";
import { increased } from "../platform/ranges.ts";
import type { Run, RunState, SkipReason } from "../schemas/run.ts";
import { type Cancellation, endRecord, isCancelled, isOpen } from "./jobs.ts";
import { decidePause, type Pause, type PauseRequest } from "../schemas/pause.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";

export interface PauseAnswer {
  readonly pause: Pause | null;
  readonly before: Pause | null;
  readonly changed: boolean;
  readonly runningRunId: string | null;
  /** Result for the running run, if the caller asked to cancel it as well; else null. */
  readonly cancelled: CancelResult | null;
}

export type CancelRequest = Pick<Cancellation, "by" | "note">;

export type CancelResult =
  | {
      readonly ok: true;
      /** False if it was cancelled before. */
      readonly changed: boolean;
      readonly before: RunState;
      /** The run after the call. A running one stops at its next step. */
      readonly run: Run;
    }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "ended" | "too_late";
    };

/** Queues, skips and cancels runs, and pauses ingestion. */
export class IngestRuns {
  readonly #platform: CoordinatorPlatform;
  readonly #state: CoordinatorState;

  constructor(platform: CoordinatorPlatform) {
    this.#platform = platform;
    this.#state = platform.state;
  }

  /** Queues a run, unless the request is a repetition or shares a run that waits. */
  enqueue(request: EnqueueRequest): EnqueueResult {
    const wanted = newRun(this.#platform, request);
    const { ifPaused, idempotencyKey } = request;
    const result = this.#state.transaction(() => {
      const decided = decideEnqueue(wanted, this.#state.queue(), {
        ifPaused,
        earlier: this.#state.jobs.findRepeated(idempotencyKey, isRun),
        now: this.#platform.now(),
      });
      if (decided.add !== null) this.#state.save(decided.add);
      return decided.result;
    });
    const run = result.ok ? result.answer.run : wanted.job;
    const outcome = result.ok ? { changed: result.answer.changed } : { reason: result.reason };
    this.#platform.log("info", "ingest_enqueue", {
      run_id: run.id,
      trigger: run.trigger,
      ...outcome,
    });
    return result;
  }

  /**
   * Accepts a cron tick. A repeated tick has no effect. A tick during a pause, behind an equivalent
   * waiting run or in front of a full queue is skipped; one row counts the skipped ticks.
   */
  tick(cron: string, scheduledAt: EpochMs, request: EnqueueRequest): void {
    const wanted = newRun(this.#platform, request);
    const skipped = this.#state.transaction(() => {
      if (!this.#state.ticks.add(cron, scheduledAt)) return { reason: "known" };
      const reason = decideTick(wanted, this.#state.queue());
      if (reason !== null) return { reason, run: this.#countSkipped(wanted, reason) };
      this.#state.values.set("skipped_run", null);
      this.#state.save(wanted);
      return null;
    });
    const run = skipped === null ? wanted.job : skipped.run;
    this.#platform.log("info", skipped === null ? "ingest_tick_taken" : "ingest_tick_skipped", {
      cron,
      scheduled_at: timeText(scheduledAt),
      ...(run && { run_id: run.id }),
      ...(skipped && { reason: skipped.reason, skip_count: run?.skip_count }),
    });
  }

  pause(request: PauseRequest, cancelRunning: boolean): PauseAnswer {
    return this.#state.transaction(() => {
      const before = this.#state.pause();
      const { pause, changed } = decidePause(before, request, this.#at());
      this.#state.setPause(pause);
      const running = cancelRunning ? this.#state.queue().running.find(isRun) : undefined;
      const cancelled = running === undefined ? null : this.#cancel(running, request);
      return { ...this.#pauseAnswer(before, changed), cancelled };
    });
  }

  resume(): PauseAnswer {
    return this.#state.transaction(() => {
      const before = this.#state.pause();
      this.#state.liftPause();
      return this.#pauseAnswer(before, before !== null);
    });
  }

  /** Cancels a queued run at once, a running one at its next step unless it has published. Idempotent. */
  cancel(id: string, request: CancelRequest): CancelResult {
    return this.#state.transaction((): CancelResult => {
      const record = this.#state.findRun(id);
      return record ? this.#cancel(record, request) : { ok: false, reason: "not_found" };
    });
  }

  /** Adds a tick to the current row of skipped ticks, or to a new row if the reason differs. */
  #countSkipped(wanted: RunRecord, skipped_reason: SkipReason): Run {
    const open = this.#state.findRun(this.#state.values.get("skipped_run") ?? "");
    const row = open?.job.skipped_reason === skipped_reason ? open : wanted;
    const { job: run } = row;
    const skipped: Run = {
      ...run,
      state: "skipped",
      skipped_reason,
      skip_count: increased(run.skip_count),
      finished_at: this.#at(),
    };
    this.#state.save({ ...row, job: skipped });
    this.#state.values.set("skipped_run", run.id);
    return skipped;
  }

  #cancel(record: RunRecord, { by, note }: CancelRequest): CancelResult {
    const { job: run, isCommitted } = record;
    if (isCancelled(run)) return { ok: true, changed: false, before: run.state, run };
    if (!isOpen(run.state)) return { ok: false, reason: "ended" };
    if (isCommitted) return { ok: false, reason: "too_late" };
    const at = this.#at();
    const requested = { ...record, job: { ...run, cancellation: { by, at, note } } };
    const saved =
      run.state === "queued"
        ? endRecord(requested, { state: "cancelled", at })
        : { ...requested, notBefore: null };
    this.#state.save(saved);
    return { ok: true, changed: true, before: run.state, run: saved.job };
  }

  #pauseAnswer(before: Pause | null, changed: boolean): PauseAnswer {
    const { pause, running } = this.#state.queue();
    const runningRunId = running.find(isRun)?.job.id ?? null;
    return { pause, before, changed, runningRunId, cancelled: null };
  }

  #at(): Instant {
    return timeText(this.#platform.now());
  }
}
