import { describeError, type LogLevel } from "../log.ts";
import { withDeadline } from "../storage/deadline.ts";
import {
  type AlertResult,
  type AlertRun,
  type AlertTrigger,
  type PingOutcome,
  type Receipt,
  worstOf,
} from "./alert-run.ts";
import { newTrack, nextTrack } from "./alert-state.ts";
import type { Facts, MonitorFacts } from "./facts.ts";
import { afterDelivery, type LedgerContext, owedChange, quietUntil } from "./ledger.ts";
import type { AlertRecord, MonitorState, TargetRecord } from "./monitor-state.ts";
import type { Notice } from "./notice.ts";
import { type FactSources, readFacts } from "./read-facts.ts";
import { evaluateRules, type RuleFinding } from "./rules.ts";
import type { AlertConfig, AlertConfigResult } from "./settings.ts";
import { type DeliveryDependencies, request, sendMessage, type WebhookTarget } from "./webhook.ts";

/** Evaluations sent to D1 at a time, and how often in one evaluation. */
const OUTBOX_BATCH = 20;
const OUTBOX_BATCHES = 10;
const SAVE_DEADLINE_MS = 10_000;
/** How often rows past their retention are looked for. */
const CLEAN_EVERY_MS = 60 * 60_000;
/** Blobs that are read again at each evaluation because a copy was damaged. */
const SUSPECTS_MAX = 50;

export interface MonitorDependencies {
  readonly state: MonitorState;
  readonly config: AlertConfigResult;
  readonly sources: FactSources;
  readonly delivery: DeliveryDependencies;
  /** Writes evaluations to D1, any number of times. Throws if D1 refuses. */
  readonly saveRuns: (runs: readonly AlertRun[]) => Promise<void>;
  /** Deletes history that is past its retention. Throws if D1 refuses. */
  readonly deleteOldRuns: () => Promise<unknown>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: (
    level: LogLevel,
    event: string,
    fields: { readonly [name: string]: unknown },
  ) => void;
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

export type TestResult =
  | { readonly ok: true; readonly receipts: readonly Receipt[] }
  | {
      readonly ok: false;
      readonly reason: "unknown_target" | "no_targets";
      readonly targets: readonly string[];
    }
  | Misconfigured;

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

/** An alert at one evaluation. */
interface Evaluated {
  readonly record: AlertRecord;
  readonly result: AlertResult;
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
  /** Settles when the last of the evaluations that wait for their turn is over. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: MonitorDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
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
    if (!config.ok) return { ...config, reason: "misconfigured" };
    const names = config.config.targets.map((target) => target.name);
    const chosen = config.config.targets.filter((target) => name === null || target.name === name);
    if (chosen.length === 0)
      return { ok: false, reason: name === null ? "no_targets" : "unknown_target", targets: names };
    const id = this.#deps.newId();
    const notices = [testNotice(by, this.#at())];
    const receipts = await Promise.all(
      chosen.map((target) =>
        sendMessage(target, { id, target: target.name, notices }, this.#deps.delivery),
      ),
    );
    for (const receipt of receipts) this.#logReceipt("alert_test", id, receipt);
    return { ok: true, receipts };
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
    this.#log("alerts_started", id, { trigger, actor: requestedBy });
    const facts = await this.#readFacts(config);
    this.#log("alerts_facts_read", id, {
      duration_ms: this.#deps.now() - startedAt,
      checked_locale: facts.copies.locale,
      checked_copies: facts.copies.checked,
    });
    const now = this.#deps.now();
    const evaluated = this.#state.transaction(() => this.#decide(facts, { config, asked, now }));
    const begun: AlertRun = {
      ...summarize(evaluated.map(({ result }) => result)),
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
    for (const { result } of evaluated) this.#logChange(id, result);
    const run = await this.#notifyAll(begun, evaluated, { config, now });
    const ping = await this.#ping(id, config.pingUrl);
    const finished = this.#finish({ ...run, ping }, startedAt);
    await this.#drainOutbox(id);
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

  async #notifyAll(
    run: AlertRun,
    evaluated: readonly Evaluated[],
    { config, now }: { readonly config: AlertConfig; readonly now: number },
  ): Promise<AlertRun> {
    const { repeatMs } = config.thresholds;
    const told = await Promise.all(
      config.targets.map((target) => this.#notify(run.id, target, evaluated, { now, repeatMs })),
    );
    const sent = told.filter((each) => each !== null);
    const deliveries = sent.map(({ receipt }) => receipt);
    const results = run.results.map((result) => ({
      ...result,
      notified: sent.flatMap(({ receipt: { target, delivered }, notices }) =>
        notices
          .filter(({ fingerprint }) => fingerprint === result.fingerprint)
          .map(({ change }) => ({ target, change, delivered })),
      ),
    }));
    const notified = deliveries.filter(({ delivered }) => delivered).length;
    return {
      ...run,
      results,
      deliveries,
      notified,
      notifyFailed: deliveries.length - notified,
      changed: run.changed || deliveries.length > 0,
    };
  }

  /** Tells one target all that it is owed, in one message; null if that is nothing. */
  async #notify(
    id: string,
    target: WebhookTarget,
    evaluated: readonly Evaluated[],
    context: Pick<LedgerContext, "now" | "repeatMs">,
  ): Promise<{ readonly receipt: Receipt; readonly notices: readonly Notice[] } | null> {
    const owed = evaluated.flatMap((alert) => this.#owed(target, alert, context));
    if (owed.length === 0) return null;
    const notices = owed.map(({ notice }) => notice);
    const message = { id, target: target.name, notices };
    const receipt = await sendMessage(target, message, this.#deps.delivery);
    this.#state.transaction(() => {
      const before = this.#state.target(target.name);
      this.#state.setTarget(target.name, afterReceipt(before, receipt));
      if (!receipt.delivered) return;
      for (const { notice, track } of owed) {
        const told = this.#state.told(target.name, notice.fingerprint);
        const next = afterDelivery(track, told, { change: notice.change, now: context.now });
        this.#state.setTold(target.name, notice.fingerprint, next);
      }
    });
    this.#logReceipt("alert_notification", id, receipt);
    return { receipt, notices };
  }

  #owed(
    target: WebhookTarget,
    { record: { track }, result }: Evaluated,
    context: Pick<LedgerContext, "now" | "repeatMs">,
  ) {
    const told = this.#state.told(target.name, result.fingerprint);
    const change = owedChange(track, told, { ...context, suppressed: result.suppressed });
    if (change === null) return [];
    const isResolved = change === "resolved";
    const quiet = isResolved ? quietUntil(told, context) : null;
    const raisedAt = told?.isOpen === true ? told.raisedAt : (track.raisedAt ?? context.now);
    const notice: Notice = {
      ...result,
      change,
      startsAt: timeText(raisedAt),
      endsAt: isResolved ? timeText(context.now) : null,
      quietUntil: quiet === null ? null : timeText(quiet),
    };
    return [{ notice, track }];
  }

  /** Tells the dead-man's switch that an evaluation was made. */
  async #ping(id: string, url: string | null): Promise<PingOutcome> {
    if (url === null) return "not_configured";
    const headers = { "user-agent": "locations-at-the-edge" };
    const { error } = await request(url, { method: "GET", headers }, this.#deps.delivery);
    if (error === null) return "sent";
    this.#log("alerts_ping_failed", id, { error }, "warn");
    return "failed";
  }

  #finish(run: AlertRun, startedAt: number): AlertRun {
    const endedAt = this.#deps.now();
    const finished: AlertRun = {
      ...run,
      finishedAt: timeText(endedAt),
      durationMs: endedAt - startedAt,
    };
    this.#state.transaction(() => this.#state.saveRun(finished));
    const { worst, firing, fired, resolved, nodata, notified, notifyFailed, ping } = finished;
    this.#log("alerts_ended", run.id, {
      worst,
      firing,
      fired,
      resolved,
      nodata,
      notified,
      notify_failed: notifyFailed,
      ping,
      duration_ms: finished.durationMs,
    });
    return finished;
  }

  /** Sends waiting evaluations to D1; what it refuses waits for the next one. */
  async #drainOutbox(id: string): Promise<void> {
    try {
      for (let batches = 0; batches < OUTBOX_BATCHES; batches++) {
        const runs = this.#state.outbox(OUTBOX_BATCH);
        const last = runs.at(-1);
        if (last === undefined) break;
        await withDeadline("D1", SAVE_DEADLINE_MS, this.#deps.saveRuns(runs));
        this.#state.transaction(() => this.#state.trimOutbox(last.id));
      }
      const cleanedAt = this.#state.fact("cleaned_at");
      if (cleanedAt !== null && this.#deps.now() - cleanedAt < CLEAN_EVERY_MS) return;
      await withDeadline("D1", SAVE_DEADLINE_MS, this.#deps.deleteOldRuns());
      this.#state.transaction(() => this.#state.setFact("cleaned_at", this.#deps.now()));
    } catch (cause) {
      this.#log("alert_history_unreachable", id, describeError(cause), "warn");
    }
  }

  #at(): string {
    return timeText(this.#deps.now());
  }

  #logChange(id: string, { state, previousState, ...result }: AlertResult): void {
    if (state === previousState) return;
    const { rule, fingerprint, severity, message, value, threshold, suppressed } = result;
    this.#log("alert_changed", id, {
      rule,
      fingerprint,
      severity,
      previous_state: previousState,
      state,
      message,
      value,
      threshold,
      suppressed,
    });
  }

  #logReceipt(event: string, id: string, receipt: Receipt): void {
    const { target, delivered, attempts, status, error, durationMs: duration_ms } = receipt;
    const fields = { target, delivered, attempts, status, error, duration_ms };
    this.#log(event, id, fields, delivered ? "info" : "warn");
  }

  #log(
    event: string,
    id: string,
    fields: { readonly [name: string]: unknown },
    level: LogLevel = "info",
  ): void {
    this.#deps.log(level, event, { alert_run_id: id, ...fields });
  }
}

/** An alert after one more finding. */
function step(known: AlertRecord | undefined, finding: RuleFinding, now: number): Evaluated {
  const { verdict, forMs, ...found } = finding;
  const before = known?.track ?? newTrack(now);
  const track = nextTrack(before, verdict, { now, forMs });
  const result: AlertResult = {
    ...found,
    state: track.state,
    previousState: before.state,
    since: timeText(track.since),
    notified: [],
  };
  return { record: { track, last: result }, result };
}

/** What is said of an alert whose cause is no longer configured: it is over. */
function noLongerWatched({ last }: AlertRecord): RuleFinding {
  const { rule, fingerprint, labels, severity, threshold, unit } = last;
  return {
    rule,
    fingerprint,
    labels,
    severity,
    threshold,
    unit,
    forMs: 0,
    verdict: "good",
    value: null,
    message: "It is no longer watched.",
    evidence: {},
    suppressed: false,
  };
}

function summarize(results: readonly AlertResult[]) {
  const count = (is: (result: AlertResult) => boolean) => results.filter(is).length;
  const inState = (state: AlertResult["state"]) => count((result) => result.state === state);
  const isNew = ({ state, previousState }: AlertResult) => state !== previousState;
  return {
    worst: worstOf(results),
    rulesTotal: results.length,
    pending: inState("pending"),
    firing: inState("firing"),
    nodata: inState("nodata"),
    resolved: inState("resolved"),
    fired: count((result) => result.state === "firing" && isNew(result)),
    suppressed: count(({ suppressed, state }) => suppressed && isRaised(state)),
    changed: results.some(
      (result) =>
        isNew(result) && !(result.previousState === "resolved" && result.state === "inactive"),
    ),
    results,
  };
}

function isRaised(state: AlertResult["state"]): boolean {
  return state === "firing" || state === "nodata";
}

function afterReceipt(before: TargetRecord, receipt: Receipt): TargetRecord {
  return receipt.delivered
    ? { failures: 0, lastError: null, lastDeliveredAt: Date.parse(receipt.at) }
    : { ...before, failures: before.failures + 1, lastError: receipt.error };
}

function testNotice(by: string, at: string): Notice {
  return {
    change: "fired",
    rule: "test",
    fingerprint: "0000000000000000",
    labels: {},
    severity: "warn",
    message: `A test that ${by} has asked for; there is nothing to do.`,
    value: null,
    threshold: 0,
    unit: "runs",
    evidence: {},
    startsAt: at,
    endsAt: null,
    quietUntil: null,
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
