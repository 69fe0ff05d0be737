import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";
import type { CoordinatorState } from "./coordinator-state.ts";
import { decidePause, hasEnded, type Pause, type PauseRequest } from "./pause.ts";
import {
  decideEnqueue,
  decideTick,
  type EnqueueRequest,
  type EnqueueResult,
  type NewRun,
  newRun,
} from "./queue.ts";
import { endedRecord, type RunRecord } from "./run-record.ts";
import { isOpen, type Run, type RunState } from "./run.ts";

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

interface ControlDependencies extends Pick<
  CoordinatorDependencies,
  "state" | "now" | "newId" | "log" | "source" | "workerVersion"
> {
  /** Does what is due when a run that had begun was cancelled between two steps. Never throws. */
  readonly runEnded: (run: Run) => void;
  /** The job that a new run comes after; null if there is none. */
  readonly jobAhead: () => { readonly id: string } | null;
}

/** Says which runs there are, and whether they may go on: the queue and the pause. */
export class RunControl {
  readonly #deps: ControlDependencies;
  readonly #state: CoordinatorState;

  constructor(deps: ControlDependencies) {
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
        jobId: this.#deps.jobAhead()?.id ?? null,
      });
      if (decided.add !== null) this.#state.saveRun(decided.add, true);
      return decided.result;
    });
    const run = result.ok ? result.answer.run : wanted.run;
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
      if (!this.#state.addTick(cron, scheduledAt)) return { reason: "known" };
      const reason = decideTick(wanted, this.#state.queue());
      if (reason !== null) return { reason, run: this.#countSkipped(wanted, reason) };
      this.#state.setSkippedRunId(null);
      this.#state.saveRun(wanted, true);
      return null;
    });
    const run = skipped === null ? wanted.run : skipped.run;
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
      const running = cancelRunning ? this.#state.queue().running : undefined;
      if (running === undefined) return { answer: this.#pauseAnswer(before, changed) };
      const result = this.#cancelRunning(running, request.by);
      const disposition = result.ok ? result.disposition : ("too_late" as const);
      const cancelled = { runId: running.run.id, disposition };
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
      const { run } = record;
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
    const row = open?.run.skipped_reason === skipped_reason ? open : wanted;
    const { run } = row;
    const skip_count = run.skip_count + 1;
    const skipped: Run = {
      ...run,
      state: "skipped",
      skipped_reason,
      skip_count,
      finished_at: this.#at(),
    };
    this.#state.saveRun({ ...row, run: skipped }, true);
    this.#state.setSkippedRunId(run.id);
    return skipped;
  }

  #cancelNow(record: RunRecord, by: string): CancelResult {
    const finished_at = this.#at();
    const asked = { ...record, cancelRequestedBy: by };
    const ended = endedRecord(asked, { state: "cancelled", finished_at });
    this.#state.saveRun(ended, true);
    return { ok: true, disposition: "cancelled", before: record.run.state, run: ended.run };
  }

  /** A run that had begun has ended; of one that only waited there is nothing to tell. */
  #tellOfEnd(result: CancelResult | undefined): void {
    if (result?.ok === true && result.before === "running" && !isOpen(result.run.state))
      this.#deps.runEnded(result.run);
  }

  #cancelRunning(record: RunRecord, by: string): CancelResult {
    if (record.checkpoint.stage === "verify") return { ok: false, reason: "too_late" };
    if (record.leaseUntil === null) return this.#cancelNow(record, by);
    this.#state.saveRun({ ...record, cancelRequestedBy: by }, false);
    return { ok: true, disposition: "cancelling", before: record.run.state, run: record.run };
  }

  #pauseAnswer(before: Pause | null, changed: boolean): PauseAnswer {
    const { pause, running, waiting } = this.#state.queue();
    const runningRunId = running?.run.id ?? null;
    return { pause, before, changed, runningRunId, queued: waiting.length, cancelled: null };
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
