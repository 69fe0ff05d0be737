import type { CoordinatorState } from "../ingest/coordinator-state.ts";
import {
  decideEnqueue,
  decideTick,
  type EnqueueRequest,
  type EnqueueResult,
  type NewRun,
  newRun,
} from "../ingest/queue.ts";
import type { Run, RunState } from "../ingest/run.ts";
import { isRun, type RunRecord } from "../ingest/run-record.ts";
import { endRecord, isOpen } from "../jobs/job-record.ts";
import { decidePause, hasEnded, type Pause, type PauseRequest } from "../jobs/pause.ts";
import type { CoordinatorDependencies } from "./dependencies.ts";

/** What a pause or resume came to. */
export interface PauseAnswer {
  readonly pause: Pause | null;
  /** The pause before the call. */
  readonly before: Pause | null;
  readonly changed: boolean;
  readonly runningRunId: string | null;
  readonly queued: number;
  /** The run under way that was to be cancelled as well, and what that came to. */
  readonly cancelled: {
    readonly runId: string;
    readonly disposition: "cancelled" | "cancelling" | "too_late";
  } | null;
}

export type CancelResult =
  | {
      readonly ok: true;
      readonly disposition: "cancelled" | "cancelling";
      /** The run's state before the call. */
      readonly before: RunState;
      readonly run: Run;
    }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "ended" | "too_late";
    };

interface SchedulerDependencies extends Pick<
  CoordinatorDependencies,
  "state" | "now" | "newId" | "log" | "source" | "workerVersion"
> {
  /** Does what is due when a run that had begun was cancelled between two steps. Never throws. */
  readonly ended: (record: RunRecord) => void;
}

/** Says which runs there are, and whether they may go on. */
export class Scheduler {
  readonly #deps: SchedulerDependencies;
  readonly #state: CoordinatorState;

  constructor(deps: SchedulerDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Puts a run in the queue, unless one that would do the same waits already. */
  enqueue(request: EnqueueRequest): EnqueueResult {
    const wanted = newRun(newRunOf(this.#deps, request.source), request);
    const { ifPaused } = request;
    const result = this.#state.transaction(() => {
      liftEndedPause(this.#state, this.#deps.now());
      const decided = decideEnqueue(wanted, this.#state.queue(), {
        ifPaused,
        now: this.#deps.now(),
      });
      if (decided.add !== null) this.#state.save(decided.add);
      return decided.result;
    });
    const run = result.ok ? result.answer.run : wanted.job;
    const outcome = result.ok ? result.answer.disposition : result.reason;
    this.#deps.log("info", "ingest_enqueue", { run_id: run.id, trigger: run.trigger, outcome });
    return result;
  }

  /**
   * Takes a cron tick: once, however often it fires. One that comes while paused, or while the same
   * run waits, is only counted, in one row.
   */
  tick(cron: string, scheduledAt: number, request: EnqueueRequest): void {
    const wanted = newRun(newRunOf(this.#deps, request.source), request);
    const skipped = this.#state.transaction(() => {
      liftEndedPause(this.#state, this.#deps.now());
      if (!this.#state.ticks.add(cron, scheduledAt)) return { reason: "known" };
      const reason = decideTick(wanted, this.#state.queue());
      if (reason !== null) return { reason, run: this.#countSkipped(wanted, reason) };
      this.#state.setSkippedRunId(null);
      this.#state.save(wanted);
      return null;
    });
    const run = skipped === null ? wanted.job : skipped.run;
    this.#deps.log("info", skipped === null ? "ingest_tick_taken" : "ingest_tick_skipped", {
      cron,
      scheduled_at: new Date(scheduledAt).toISOString(),
      ...(run && { run_id: run.id }),
      ...(skipped && { reason: skipped.reason, skip_count: run?.skip_count }),
    });
  }

  /** Pauses dispatch and publishing, at the next step boundary. */
  pause(request: PauseRequest, cancelRunning: boolean): PauseAnswer {
    const { answer, ended } = this.#state.transaction(() => {
      liftEndedPause(this.#state, this.#deps.now());
      const before = this.#state.pause();
      const { pause, changed } = decidePause(before, request, this.#at());
      this.#state.setPause(pause);
      const running = cancelRunning ? this.#state.queue().running.find(isRun) : undefined;
      if (running === undefined) return { answer: this.#pauseAnswer(before, changed) };
      const result = this.#cancelRunning(running, request.by);
      const disposition = result.ok ? result.disposition : ("too_late" as const);
      const cancelled = { runId: running.job.id, disposition };
      return { answer: { ...this.#pauseAnswer(before, changed), cancelled }, ended: result };
    });
    this.#tellOfEnd(ended);
    return answer;
  }

  /** Lifts the pause. What waits goes on; ticks that were skipped are not made up for. */
  resume(): PauseAnswer {
    return this.#state.transaction(() => {
      liftEndedPause(this.#state, this.#deps.now());
      const before = this.#state.pause();
      lift(this.#state);
      return this.#pauseAnswer(before, before !== null);
    });
  }

  /**
   * Cancels a run: at once if it waits, else at the next step boundary before it publishes. One that
   * was cancelled stays so.
   */
  cancel(id: string, by: string): CancelResult {
    const result = this.#state.transaction((): CancelResult => {
      const record = this.#state.findRun(id);
      if (record === undefined) return { ok: false, reason: "not_found" };
      const { job: run } = record;
      if (run.state === "cancelled")
        return { ok: true, disposition: "cancelled", before: run.state, run };
      if (!isOpen(run.state)) return { ok: false, reason: "ended" };
      if (run.state === "queued") return this.#cancelNow(record, by);
      return this.#cancelRunning(record, by);
    });
    this.#tellOfEnd(result);
    return result;
  }

  /** Counts a tick in the row of those before it that were skipped for the same reason. */
  #countSkipped(wanted: RunRecord, skipped_reason: NonNullable<Run["skipped_reason"]>): Run {
    const open = this.#state.findRun(this.#state.skippedRunId() ?? "");
    const row = open?.job.skipped_reason === skipped_reason ? open : wanted;
    const { job: run } = row;
    const skipped: Run = {
      ...run,
      state: "skipped",
      skipped_reason,
      skip_count: run.skip_count + 1,
      finished_at: this.#at(),
    };
    this.#state.save({ ...row, job: skipped });
    this.#state.setSkippedRunId(run.id);
    return skipped;
  }

  #cancelNow(record: RunRecord, by: string): CancelResult {
    const asked = { ...record, cancelRequestedBy: by };
    const ended = endRecord(asked, { state: "cancelled", at: this.#at() });
    this.#state.save(ended);
    return { ok: true, disposition: "cancelled", before: record.job.state, run: ended.job };
  }

  /** A run that had begun has ended; of one that only waited there is nothing to tell. */
  #tellOfEnd(result: CancelResult | undefined): void {
    if (result?.ok !== true || result.before !== "running" || isOpen(result.run.state)) return;
    const record = this.#state.findRun(result.run.id);
    if (record !== undefined) this.#deps.ended(record);
  }

  #cancelRunning(record: RunRecord, by: string): CancelResult {
    if (record.isCommitted) return { ok: false, reason: "too_late" };
    if (record.leaseUntil === null) return this.#cancelNow(record, by);
    this.#state.save({ ...record, cancelRequestedBy: by });
    return { ok: true, disposition: "cancelling", before: record.job.state, run: record.job };
  }

  #pauseAnswer(before: Pause | null, changed: boolean): PauseAnswer {
    const { pause, running, waiting } = this.#state.queue();
    const runningRunId = running.find(isRun)?.job.id ?? null;
    const queued = waiting.filter(isRun).length;
    return { pause, before, changed, runningRunId, queued, cancelled: null };
  }

  #at(): string {
    return new Date(this.#deps.now()).toISOString();
  }
}

/** A pause ends at its time, also when the alarm that lifts it comes late. */
export function liftEndedPause(state: CoordinatorState, now: number): void {
  const pause = state.pause();
  if (pause !== null && hasEnded(pause, now)) lift(state);
}

function lift(state: CoordinatorState): void {
  state.setPause(null);
  state.setSkippedRunId(null);
}

/** What a run is made of, from the upstream that it names or else the configured one. */
export function newRunOf(
  deps: Pick<CoordinatorDependencies, "now" | "newId" | "source" | "workerVersion">,
  source: string | null,
): NewRun {
  return {
    id: deps.newId(),
    at: new Date(deps.now()).toISOString(),
    source: source ?? deps.source,
    workerVersion: deps.workerVersion,
  };
}
