import {
  type CheckRequest,
  type Facts,
  type MonitorFacts,
  newestPublished,
  readFacts,
} from "./facts.ts";
import { evaluateRules } from "./rules.ts";
import { describeError } from "../platform/log.ts";
import { WorkLimit } from "../platform/work-limit.ts";
import type { SetAside } from "../storage/object-tables.ts";
import { durationOf, HOUR_MS, timeText } from "../platform/time.ts";
import type { EpochMs } from "../platform/units.ts";
import type { AlertResult, AlertRun, AlertTrigger, Receipt } from "../schemas/alert-run.ts";
import { advanceAlert, type Evaluated, noLongerWatched, summarizeResults } from "./alert-state.ts";
import type { MonitorState } from "./monitor-state.ts";
import { logOf, Notifier } from "./notifier.ts";
import type { MonitorPlatform } from "./monitor-platform.ts";
import { MONITOR_GAP_MS } from "./alert-settings.ts";
import type { AlertConfig } from "./alert-settings.ts";

/** Maximum number of damaged blobs that each evaluation reads again. */
const SUSPECTS_MAX = 50;
/** Interval between checks of a locale's copies. */
const CHECK_LOCALE_EVERY_MS = HOUR_MS;

const CLEAN_EVERY_MS = HOUR_MS;
const SAVE_DEADLINE_MS = 10_000;
const WATCH = "watch";

export interface EvaluationRequest {
  readonly trigger: AlertTrigger;
  readonly requested_by: string;
  readonly tick: EpochMs | null;
}

type EvaluationResult =
  | { readonly ok: true; readonly run: AlertRun }
  | { readonly ok: false; readonly reason: "already_evaluated" };

export interface MonitorStatus {
  readonly lastRun: AlertRun | null;
  readonly webhooks: number;
  readonly outboxLength: number;
}

/**
 * Evaluates the alerts. Evaluations run one after the other, so that overlapping ones notify once.
 * Each stores its results before it sends messages, and each delivery as soon as it has succeeded.
 * After a crash the next evaluation sends the undelivered changes under the same message id. A cron
 * tick counts only after a complete evaluation, so that a failed one can be retried. D1 comes last.
 */
export class Monitor {
  readonly #platform: MonitorPlatform;
  readonly #state: MonitorState;
  readonly #notifier: Notifier;
  readonly #workLimit: WorkLimit;
  /** Settles after the last waiting evaluation. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(platform: MonitorPlatform) {
    this.#platform = platform;
    this.#state = platform.state;
    this.#notifier = new Notifier(platform);
    this.#workLimit = new WorkLimit(platform);
  }

  /**
   * Evaluates all rules, notifies and records. A repeated cron tick counts once. Ends this instance if
   * an earlier evaluation has taken too long.
   *
   * @param at now, by the caller's clock.
   */
  async evaluate(request: EvaluationRequest, at = this.#platform.now()): Promise<EvaluationResult> {
    this.#workLimit.check(at);
    const evaluate = () => this.#workLimit.within(() => this.#evaluateOnce(request));
    const evaluating = this.#last.then(evaluate);
    this.#last = evaluating.catch(() => {});
    return evaluating;
  }

  test(by: string): Promise<readonly Receipt[]> {
    return this.#notifier.test(this.#platform.config.targets, by);
  }

  status(): MonitorStatus {
    return {
      lastRun: this.#state.values.get("last_run"),
      outboxLength: this.#state.outbox.length,
      webhooks: this.#platform.config.targets.length,
    };
  }

  setAside(): SetAside[] {
    return this.#state.tables.setAside();
  }

  forgetSetAside(): SetAside[] {
    return this.#state.tables.forgetSetAside();
  }

  async #evaluateOnce(request: EvaluationRequest): Promise<EvaluationResult> {
    const { tick } = request;
    if (tick !== null && this.#state.ticks.has(WATCH, tick))
      return { ok: false, reason: "already_evaluated" };
    const id = this.#platform.newId();
    try {
      return { ok: true, run: await this.#evaluate(id, request, this.#platform.config) };
    } catch (cause) {
      this.#platform.log("error", "alerts_failed", { alert_run_id: id, ...describeError(cause) });
      throw cause;
    }
  }

  async #evaluate(id: string, request: EvaluationRequest, config: AlertConfig): Promise<AlertRun> {
    const started_at = this.#platform.now();
    const { trigger, requested_by } = request;
    const log = logOf(this.#platform.log, id);
    log("info", "alerts_started", { trigger, actor: requested_by });
    const facts = await this.#readFacts(config, Math.min(request.tick ?? started_at, started_at));
    log("info", "alerts_facts_read", {
      duration_ms: durationOf(started_at, this.#platform.now()),
      checked_locale: facts.copies.locale,
      checked_copies: facts.copies.checked,
    });
    const now = this.#platform.now();
    const evaluated = this.#state.transaction(() => this.#decide(facts, config, now));
    const started: AlertRun = {
      ...summarizeResults(evaluated),
      id,
      trigger,
      requested_by,
      started_at: timeText(started_at),
      finished_at: null,
      duration_ms: null,
      notified: 0,
      notify_failed: 0,
      deliveries: [],
      ping: null,
      worker_version: this.#platform.workerVersion,
    };
    this.#state.transaction(() => this.#state.saveRun(started));
    for (const { result } of evaluated)
      if (result.state !== result.previous_state)
        log("info", "alert_changed", { ...result, evidence: undefined, notified: undefined });
    const run = await this.#notifier.notifyAll(started, evaluated, { config, now });
    const ping = await this.#notifier.ping(config.pingUrl, log);
    const finished = this.#finish({ ...run, ping }, started_at, request.tick);
    log("info", "alerts_ended", { ...finished, results: undefined, deliveries: undefined });
    await this.#saveHistory();
    return finished;
  }

  #readFacts({ targets }: AlertConfig, startedAt: EpochMs): Promise<Facts> {
    const { tokens, crons, settingProblems, now } = this.#platform;
    const since = this.#state.values.get("since") ?? now();
    this.#state.transaction(() => this.#state.values.set("since", since));
    const lastTickAt = this.#lastTick();
    // The coordinator may have answered while the monitor slept, so its silence starts again.
    const hasSlept = startedAt - (lastTickAt ?? 0) >= MONITOR_GAP_MS;
    const silentBefore = hasSlept ? null : this.#state.values.get("silent_since");
    const monitor: MonitorFacts = {
      since,
      lastTickAt,
      silentSince: silentBefore ?? startedAt,
      outboxLength: this.#state.outbox.length,
      setAside: this.setAside(),
      targets: targets.map((target) => ({ name: target.name, ...this.#state.target(target) })),
      tokens,
      crons,
      settingProblems,
    };
    return readFacts(this.#platform, { check: this.#nextCheck(), monitor });
  }

  /** Selects the copies to read: the suspects, and once an hour those of the next locale. */
  #nextCheck(): CheckRequest {
    const { values } = this.#state;
    const checkedAt = values.get("checked_at") ?? 0;
    return {
      isLocaleDue: this.#platform.now() - checkedAt >= CHECK_LOCALE_EVERY_MS,
      after: values.get("checked_locale"),
      suspects: values.get("suspects") ?? [],
    };
  }

  /** Records a check of copies: its locale, and the suspects. */
  #recordCheck({ copies, catalog }: Facts, now: EpochMs): void {
    const { locale, damaged, unreadable } = copies;
    if (locale !== null && unreadable.length === 0) {
      this.#state.values.set("checked_locale", locale);
      this.#state.values.set("checked_at", now);
    }
    // After a failed read, suspects stay suspects.
    const isIncomplete = unreadable.length > 0 || newestPublished(catalog) === undefined;
    const before = isIncomplete ? (this.#state.values.get("suspects") ?? []) : [];
    const suspects = new Set([...damaged.map(({ sha256 }) => sha256), ...before]);
    this.#state.values.set("suspects", [...suspects].slice(0, SUSPECTS_MAX));
  }

  /** Scheduled time of the newest evaluated tick; null before the first. */
  #lastTick(): EpochMs | null {
    return this.#state.ticks.newest()[WATCH] ?? null;
  }

  /** Sends waiting evaluations to D1, and deletes old ones once an hour. Never throws. */
  async #saveHistory(): Promise<void> {
    const { history, now, log } = this.#platform;
    const { values, outbox } = this.#state;
    await outbox.drain({
      send: async (rows) => history.saveRuns(rows.map(({ value }) => value)),
      sent: async () => {
        if (now() - (values.get("cleaned_at") ?? 0) < CLEAN_EVERY_MS) return;
        await history.deleteOldRuns(now());
        values.set("cleaned_at", now());
      },
      deadlineMs: SAVE_DEADLINE_MS,
      now,
      log,
    });
  }

  #decide(facts: Facts, config: AlertConfig, now: EpochMs): readonly Evaluated[] {
    const known = this.#state.alerts();
    const findings = evaluateRules(facts, { now, limits: config.limits });
    const found = new Set(findings.map(({ fingerprint }) => fingerprint));
    const watched = findings.map((finding) =>
      advanceAlert(known.get(finding.fingerprint), finding, now),
    );
    const gone = [...known.values()]
      .filter(({ last }) => !found.has(last.fingerprint))
      .map((record) => advanceAlert(record, noLongerWatched(record), now));
    for (const { record } of [...watched, ...gone])
      this.#state.saveAlert(record.last.fingerprint, record);
    this.#state.keepTargets(config.targets);
    for (const { result } of gone)
      if (this.#isOver(result, config)) this.#state.forgetAlert(result.fingerprint);
    this.#recordCheck(facts, now);
    this.#state.values.set("silent_since", facts.ingest.ok ? null : facts.monitor.silentSince);
    return [...watched, ...gone];
  }

  /** Whether no target awaits the end of an unwatched alert. */
  #isOver({ state, fingerprint }: AlertResult, { targets }: AlertConfig): boolean {
    const isOpen = targets.some((target) => fingerprint in this.#state.target(target).known);
    return state === "inactive" && !isOpen;
  }

  #finish(run: AlertRun, started_at: EpochMs, tick: EpochMs | null): AlertRun {
    const endedAt = this.#platform.now();
    const finished: AlertRun = {
      ...run,
      finished_at: timeText(endedAt),
      duration_ms: durationOf(started_at, endedAt),
    };
    this.#state.transaction(() => {
      this.#state.saveRun(finished);
      if (tick !== null) this.#state.ticks.add(WATCH, tick);
    });
    return finished;
  }
}
