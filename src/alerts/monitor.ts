import { describeError } from "../log.ts";
import { timeText } from "../storage/time-text.ts";
import type { AlertResult, AlertRun, AlertTrigger } from "./alert-run.ts";
import { type Evaluated, noLongerWatched, step, summarize } from "./evaluation.ts";
import type { Facts, MonitorFacts } from "./facts.ts";
import { drainOutbox, type HistoryDependencies } from "./history-drain.ts";
import { MonitorLog } from "./monitor-log.ts";
import type { MonitorState } from "./monitor-state.ts";
import { Notifier, type NotifierDependencies, type TestOutcome } from "./notifier.ts";
import { type FactSources, readFacts } from "./read-facts.ts";
import { evaluateRules } from "./rules.ts";
import type { AlertConfig, AlertConfigResult } from "./settings.ts";
import type { WebhookTarget } from "./webhook.ts";

/** Blobs that are read again at each evaluation because a copy was damaged. */
const SUSPECTS_MAX = 50;

export interface MonitorDependencies extends NotifierDependencies, HistoryDependencies {
  readonly config: AlertConfigResult;
  readonly sources: FactSources;
  readonly workerVersion: string | null;
}

export interface EvaluationRequest {
  readonly trigger: AlertTrigger;
  readonly requestedBy: string;
  /** Scheduled time of the cron tick that asks (milliseconds since 1970); null for others. */
  readonly tick: number | null;
}

interface Misconfigured {
  readonly ok: false;
  readonly reason: "misconfigured";
  readonly problem: string;
}

export type EvaluationResult =
  | { readonly ok: true; readonly run: AlertRun }
  | { readonly ok: false; readonly reason: "already_evaluated" }
  | Misconfigured;

export type TestResult = TestOutcome | Misconfigured;

/** What the monitor holds at present. Times are RFC 3339. */
export interface MonitorStatus {
  /** What is wrong with the settings; null if nothing is. */
  readonly problem: string | null;
  readonly lastRun: AlertRun | null;
  readonly lastTickAt: string | null;
  /** Rows that wait for D1. */
  readonly outboxLength: number;
  readonly targets: readonly {
    readonly name: string;
    readonly kind: WebhookTarget["kind"];
    readonly failures: number;
    readonly lastError: string | null;
    readonly lastDeliveredAt: string | null;
  }[];
}

/**
 * The one who evaluates. Evaluations take turns, so that two which overlap notify once; what is
 * decided is stored before anybody is told of it, and who was told as soon as the message arrived.
 * A crash between two of these leaves something to be told at the next evaluation, and loses
 * nothing. D1 is only told afterwards.
 */
export class Monitor {
  readonly #deps: MonitorDependencies;
  readonly #state: MonitorState;
  readonly #notifier: Notifier;
  /** Settles when the last of the evaluations that wait for their turn is over. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: MonitorDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#notifier = new Notifier(deps);
  }

  /** Evaluates all rules, notifies and records. A cron tick counts once, however often it comes. */
  evaluate(asked: EvaluationRequest): Promise<EvaluationResult> {
    const turn = this.#turn.then(() => this.#take(asked));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Sends a test message to one target or to all, whatever they have been told. */
  async test(name: string | null, by: string): Promise<TestResult> {
    const { config } = this.#deps;
    return config.ok
      ? this.#notifier.test(config.config.targets, { name, by })
      : { ...config, reason: "misconfigured" };
  }

  status(): MonitorStatus {
    const { config } = this.#deps;
    const lastTick = this.#state.fact("last_tick");
    return {
      problem: config.ok ? null : config.problem,
      lastRun: this.#state.fact("last_run"),
      lastTickAt: lastTick === null ? null : timeText(lastTick),
      outboxLength: this.#state.outboxLength(),
      targets: (config.ok ? config.config.targets : []).map(({ name, kind }) => {
        const { failures, lastError, lastDeliveredAt } = this.#state.target(name);
        const at = lastDeliveredAt === null ? null : timeText(lastDeliveredAt);
        return { name, kind, failures, lastError, lastDeliveredAt: at };
      }),
    };
  }

  async #take(asked: EvaluationRequest): Promise<EvaluationResult> {
    const { config } = this.#deps;
    if (!config.ok) {
      this.#deps.log("error", "alerts_misconfigured", { problem: config.problem });
      return { ...config, reason: "misconfigured" };
    }
    const { tick } = asked;
    if (tick !== null && !this.#state.transaction(() => this.#state.addTick(tick)))
      return { ok: false, reason: "already_evaluated" };
    const id = this.#deps.newId();
    try {
      return { ok: true, run: await this.#evaluate(id, asked, config.config) };
    } catch (cause) {
      this.#deps.log("error", "alerts_failed", { alert_run_id: id, ...describeError(cause) });
      throw cause;
    }
  }

  async #evaluate(id: string, asked: EvaluationRequest, config: AlertConfig): Promise<AlertRun> {
    const startedAt = this.#deps.now();
    const { trigger, requestedBy } = asked;
    const log = new MonitorLog(this.#deps.log, id);
    log.line("alerts_started", { trigger, actor: requestedBy });
    const facts = await this.#readFacts(config);
    log.line("alerts_facts_read", {
      duration_ms: this.#deps.now() - startedAt,
      checked_locale: facts.copies.locale,
      checked_copies: facts.copies.checked,
    });
    const now = this.#deps.now();
    const evaluated = this.#state.transaction(() => this.#decide(facts, { config, asked, now }));
    const begun: AlertRun = {
      ...summarize(evaluated),
      id,
      trigger,
      requestedBy,
      startedAt: timeText(startedAt),
      finishedAt: null,
      durationMs: null,
      notified: 0,
      notifyFailed: 0,
      deliveries: [],
      ping: null,
      workerVersion: this.#deps.workerVersion,
    };
    this.#state.transaction(() => this.#state.saveRun(begun));
    for (const { result } of evaluated) log.change(result);
    const run = await this.#notifier.notifyAll(begun, evaluated, { config, now });
    const ping = await this.#notifier.ping(config.pingUrl, log);
    const finished = this.#finish({ ...run, ping }, startedAt);
    log.ended(finished);
    await drainOutbox(this.#deps, log);
    return finished;
  }

  #readFacts({ targets }: AlertConfig): Promise<Facts> {
    const { sources, now } = this.#deps;
    const since = this.#state.fact("since") ?? now();
    this.#state.transaction(() => this.#state.setFact("since", since));
    const monitor: MonitorFacts = {
      since,
      lastTickAt: this.#state.fact("last_tick"),
      outboxLength: this.#state.outboxLength(),
      targets: targets.map(({ name }) => ({ name, ...this.#state.target(name) })),
    };
    const check = {
      after: this.#state.fact("checked_locale"),
      rest: this.#state.fact("unchecked") ?? [],
      suspects: this.#state.fact("suspects") ?? [],
    };
    return readFacts(sources, { check, monitor });
  }

  /** Takes every alert one step further, and stores where it is then. */
  #decide(
    facts: Facts,
    { config, asked, now }: { config: AlertConfig; asked: EvaluationRequest; now: number },
  ): readonly Evaluated[] {
    const known = this.#state.alerts();
    const findings = evaluateRules(facts, { now, thresholds: config.thresholds });
    const found = new Set(findings.map(({ fingerprint }) => fingerprint));
    const watched = findings.map((finding) => step(known.get(finding.fingerprint), finding, now));
    const gone = [...known.values()]
      .filter(({ last }) => !found.has(last.fingerprint))
      .map((record) => step(record, noLongerWatched(record), now));
    for (const { record } of [...watched, ...gone])
      this.#state.saveAlert(record.last.fingerprint, record);
    this.#state.keepTargets(config.targets.map(({ name }) => name));
    for (const { result } of gone)
      if (this.#isOver(result, config)) this.#state.forgetAlert(result.fingerprint);
    this.#noteCheck(facts);
    if (asked.tick !== null) this.#state.setFact("last_tick", now);
    return [...watched, ...gone];
  }

  /** Whether there is nothing more to tell anybody of an alert that is no longer watched. */
  #isOver({ state, fingerprint }: AlertResult, { targets }: AlertConfig): boolean {
    const isOpen = targets.some(({ name }) => this.#state.told(name, fingerprint)?.isOpen);
    return state === "inactive" && !isOpen;
  }

  /** Which copies are to be read at the next evaluation. */
  #noteCheck({ copies, catalog }: Facts): void {
    const { locale, damaged, unreadable, rest } = copies;
    if (locale === null) return;
    this.#state.setFact("checked_locale", locale);
    this.#state.setFact("unchecked", rest);
    const before = this.#state.fact("suspects") ?? [];
    // What could not be read, or was not, does not show that a suspect is whole again.
    const isBlind = unreadable.length > 0 || catalog.kv.state === "unreadable";
    const unproved = before.filter((sha256) => isBlind || rest.includes(sha256));
    const suspects = new Set([...damaged.map(({ sha256 }) => sha256), ...unproved]);
    this.#state.setFact("suspects", [...suspects].slice(0, SUSPECTS_MAX));
  }

  #finish(run: AlertRun, startedAt: number): AlertRun {
    const endedAt = this.#deps.now();
    const finished: AlertRun = {
      ...run,
      finishedAt: timeText(endedAt),
      durationMs: endedAt - startedAt,
    };
    this.#state.transaction(() => this.#state.saveRun(finished));
    return finished;
  }
}
