import { DurableObject } from "cloudflare:workers";
import { v7 } from "uuid";
import { loadConfig } from "../config.ts";
import { logLine } from "../log.ts";
import { createHistory, type History } from "../storage/history.ts";
import { createCatalogStore } from "../storage/catalog-store.ts";
import { createSourceArchive } from "../storage/source-archive.ts";
import { embeddedSnapshot } from "../sources/embedded-snapshot.ts";
import { embeddedUpstream } from "../sources/upstream.ts";
import { CoordinatorState, type RunRecord } from "./coordinator-state.ts";
import { toRunError } from "./faults.ts";
import { Pipeline, type StepResult } from "./pipeline.ts";
import {
  backoffMs,
  decideEnqueue,
  type EnqueueAnswer,
  type EnqueueRequest,
  MAX_STEP_ATTEMPTS,
  newRun,
} from "./queue.ts";
import type { Run } from "./run.ts";

/** If an alarm dies without a word, the next one begins after this time. */
const WATCHDOG_MS = 120_000;
/** Rows sent to D1 at a time. */
const OUTBOX_BATCH = 20;
/** When D1 refused rows, how long to leave it alone. */
const OUTBOX_RETRY_MS = 30_000;

/**
 * The one who ingests: holds the queue, the run under way and the published versions, and works
 * from its alarm, one bounded step at a time. There is one instance, named `INSTANCE_NAME`.
 *
 * Each alarm arms a watchdog first, claims a step in a transaction, does it, and commits only if
 * nobody has claimed it since. A crash between two of these repeats the step and loses nothing.
 */
export class IngestCoordinator extends DurableObject<Env> {
  readonly #state: CoordinatorState;
  readonly #history: History;
  readonly #pipeline: Pipeline;
  #sourceName: string;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const config = loadConfig(env, embeddedSnapshot.locales);
    const upstream = embeddedUpstream(embeddedSnapshot);
    this.#sourceName = upstream.name;
    this.#state = new CoordinatorState(ctx.storage);
    this.#history = createHistory(env.HISTORY);
    this.#pipeline = new Pipeline({
      store: createCatalogStore(env.CATALOG, env.ARCHIVE),
      archive: createSourceArchive(env.ARCHIVE),
      upstream,
      snapshot: embeddedSnapshot,
      locales: config.locales,
      now: Date.now,
    });
  }

  /** Puts a run in the queue, unless the same one waits already. */
  async enqueue(request: EnqueueRequest): Promise<EnqueueAnswer> {
    const now = Date.now();
    const wanted = newRun(v7(), this.#sourceName, new Date(now).toISOString(), request);
    const answer = this.#state.transaction(() => {
      const waiting = this.#state.runsIn("queued");
      const decided = decideEnqueue(wanted, waiting, this.#state.firstRun("running"));
      if (decided.add !== null) this.#state.saveRun(decided.add, true);
      return decided.answer;
    });
    log("ingest_enqueued", answer.run, { disposition: answer.disposition });
    await this.ctx.storage.setAlarm(now);
    return answer;
  }

  /** A run by its id, or null. */
  findRun(id: string): Run | null {
    return this.#state.findRun(id)?.run ?? null;
  }

  override async alarm(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + WATCHDOG_MS);
    const claimed = this.#claim();
    const delays: number[] = [];
    if (claimed !== undefined) delays.push(await this.#step(claimed));
    const drained = await this.#drainOutbox();
    if (this.#state.firstRun("running") ?? this.#state.firstRun("queued"))
      delays.push(delays[0] ?? 0);
    if (!drained) delays.push(OUTBOX_RETRY_MS);
    if (delays.length === 0) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(Date.now() + Math.min(...delays));
  }

  /** Takes the next step of the run under way, or of the oldest that waits. */
  #claim(): RunRecord | undefined {
    return this.#state.transaction(() => {
      const record = this.#state.firstRun("running") ?? this.#state.firstRun("queued");
      if (record === undefined) return undefined;
      const at = new Date().toISOString();
      const began = record.run.startedAt === null;
      const run: Run = {
        ...record.run,
        state: "running",
        startedAt: record.run.startedAt ?? at,
        heartbeatAt: at,
        stage: record.checkpoint.stage,
      };
      const claimed = { ...record, run, fence: record.fence + 1, attempts: record.attempts + 1 };
      this.#state.saveRun(claimed, began);
      return claimed;
    });
  }

  /** Does a claimed step. Answers after how long (ms) to look for the next. */
  async #step(claimed: RunRecord): Promise<number> {
    const began = Date.now();
    const { run, checkpoint } = claimed;
    try {
      if (claimed.attempts > MAX_STEP_ATTEMPTS && checkpoint.stage !== "verify")
        throw new Error(`the step was begun ${MAX_STEP_ATTEMPTS} times and never ended`);
      const current = this.#state.currentVersion();
      const result = await this.#pipeline.step(checkpoint, { mode: run.mode, current });
      this.#commit(claimed, result);
      log("ingest_step", run, { stage: checkpoint.stage, duration_ms: Date.now() - began });
      return 0;
    } catch (error) {
      return this.#fail(claimed, error);
    }
  }

  #commit(claimed: RunRecord, result: StepResult): void {
    this.#update(
      claimed,
      ({ run }) => {
        if (result.publish !== null) this.#state.addVersion(result.publish);
        const next = { ...run, ...result.patch };
        return result.next === null
          ? finished({ ...next, state: "succeeded", outcome: result.outcome })
          : { ...next, stage: result.next.stage };
      },
      result.next ?? claimed.checkpoint,
    );
  }

  /** Repeats a step that may yet succeed; what is recorded as published is repeated without end. */
  #fail(claimed: RunRecord, cause: unknown): number {
    const { stage } = claimed.checkpoint;
    const { retryable, ...error } = toRunError(cause, stage);
    const final = !retryable || (claimed.attempts >= MAX_STEP_ATTEMPTS && stage !== "verify");
    log(final ? "ingest_failed" : "ingest_step_failed", claimed.run, { stage, error });
    if (final) {
      this.#update(claimed, ({ run }) => finished({ ...run, state: "failed", error }));
      return 0;
    }
    this.#state.transaction(() => {
      const record = this.#state.findRun(claimed.run.id);
      if (record?.fence !== claimed.fence) return;
      const run = { ...record.run, retries: record.run.retries + 1 };
      this.#state.saveRun({ ...record, run }, false);
    });
    return backoffMs(claimed.attempts);
  }

  /** Commits what a claimed step came to, unless the step has been claimed again since. */
  #update(
    claimed: RunRecord,
    change: (record: RunRecord) => Run,
    checkpoint = claimed.checkpoint,
  ): void {
    const run = this.#state.transaction(() => {
      const record = this.#state.findRun(claimed.run.id);
      if (record === undefined || record.fence !== claimed.fence) return undefined;
      const changed = change(record);
      const visible = changed.state !== "running";
      this.#state.saveRun({ ...record, run: changed, checkpoint, attempts: 0 }, visible);
      return changed;
    });
    if (run === undefined || run.state === "running") return;
    this.#pipeline.forget();
    log("ingest_finished", run, { outcome: run.outcome, generation: run.generationAfter });
  }

  /** Sends waiting rows to D1. False if D1 would not take them. */
  async #drainOutbox(): Promise<boolean> {
    for (;;) {
      const rows = this.#state.outbox(OUTBOX_BATCH);
      const last = rows.at(-1);
      if (last === undefined) return true;
      try {
        await this.#history.saveRuns(rows.map(({ seq, run }) => ({ ...run, seq })));
      } catch (error) {
        logLine("warn", "history_unreachable", "D1 refused rows; they wait", {
          error: String(error),
        });
        return false;
      }
      this.#state.trimOutbox(last.seq);
    }
  }
}

/** Name of the one instance. */
export const INSTANCE_NAME = "ingest";

function finished(run: Run): Run {
  return { ...run, finishedAt: new Date().toISOString() };
}

function log(event: string, run: Run, fields: { readonly [name: string]: unknown }): void {
  logLine("info", event, `${run.trigger} ingest ${run.state}`, { run_id: run.id, ...fields });
}
