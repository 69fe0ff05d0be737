import { timeText } from "../storage/time-text.ts";
import type { AlertRun, PingOutcome, Receipt } from "./alert-run.ts";
import type { AlertTrack } from "./alert-state.ts";
import type { Evaluated } from "./evaluation.ts";
import { afterDelivery, lastToldAt, owedChange, quietUntil, type Told } from "./ledger.ts";
import { MonitorLog, type WriteLog } from "./monitor-log.ts";
import type { MonitorState, TargetRecord } from "./monitor-state.ts";
import type { Notice } from "./notice.ts";
import { afterSilence, changeKeys, heldBackUntil, messageId } from "./redelivery.ts";
import type { AlertConfig } from "./settings.ts";
import {
  type Delivery,
  type DeliveryDependencies,
  request,
  sendMessage,
  type WebhookTarget,
} from "./webhook.ts";

export interface NotifierDependencies {
  readonly state: MonitorState;
  readonly delivery: DeliveryDependencies;
  readonly newId: () => string;
  readonly log: WriteLog;
}

export type TestOutcome =
  | { readonly ok: true; readonly receipts: readonly Receipt[] }
  | {
      readonly ok: false;
      readonly reason: "unknown_target" | "no_targets";
      readonly targets: readonly string[];
    };

/** When a target is told. */
interface NotifyContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly repeatMs: number;
}

/** What a target has to be told of an alert. */
interface Owed {
  readonly notice: Notice;
  readonly track: AlertTrack;
}

/** Tells the webhooks what they are owed, and stores who was told as soon as a message arrived. */
export class Notifier {
  readonly #deps: NotifierDependencies;
  readonly #state: MonitorState;

  constructor(deps: NotifierDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** The evaluation, with what came of telling every target what it is owed. */
  async notifyAll(
    run: AlertRun,
    evaluated: readonly Evaluated[],
    { config, now }: { readonly config: AlertConfig; readonly now: number },
  ): Promise<AlertRun> {
    const { repeatMs } = config.thresholds;
    const told = await Promise.all(
      config.targets.map((target) => this.#notify(run, target, evaluated, { now, repeatMs })),
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

  /** Sends a test message to one of the targets or, without a name, to all. */
  async test(
    targets: readonly WebhookTarget[],
    { name, by }: { readonly name: string | null; readonly by: string },
  ): Promise<TestOutcome> {
    const names = targets.map((target) => target.name);
    const chosen = targets.filter((target) => name === null || target.name === name);
    if (chosen.length === 0)
      return { ok: false, reason: name === null ? "no_targets" : "unknown_target", targets: names };
    const { newId, delivery } = this.#deps;
    const id = newId();
    const log = new MonitorLog(this.#deps.log, id);
    const notices = [testNotice(by, timeText(delivery.now()))];
    const sent = await Promise.all(
      chosen.map((target) => sendMessage(target, { id, target: target.name, notices }, delivery)),
    );
    const receipts = sent.map(({ receipt }) => receipt);
    for (const receipt of receipts) log.receipt("alert_test", receipt, id);
    return { ok: true, receipts };
  }

  /** Tells the dead-man's switch that an evaluation was made. */
  async ping(url: string | null, log: MonitorLog): Promise<PingOutcome> {
    if (url === null) return "not_configured";
    const headers = { "user-agent": "locations-at-the-edge" };
    const { error } = await request(url, { method: "GET", headers }, this.#deps.delivery);
    if (error === null) return "sent";
    log.line("alerts_ping_failed", { error }, "warn");
    return "failed";
  }

  /**
   * Tells one target all that it is owed, in one message; null if that is nothing, or if it has to
   * wait: never where an operator asks.
   */
  async #notify(
    { id, trigger }: AlertRun,
    target: WebhookTarget,
    evaluated: readonly Evaluated[],
    context: NotifyContext,
  ): Promise<{ readonly receipt: Receipt; readonly notices: readonly Notice[] } | null> {
    const owed = evaluated.flatMap((alert) =>
      owedTo(this.#state.told(target.name, alert.result.fingerprint), alert, context),
    );
    if (owed.length === 0) return null;
    const notices = owed.map(({ notice }) => notice);
    const changes = changeKeys(notices);
    const sending = { changes, now: context.now };
    const log = new MonitorLog(this.#deps.log, id);
    const before = this.#state.target(target.name);
    const retryAt = heldBackUntil(before.unanswered, sending);
    if (retryAt !== null && trigger !== "manual") {
      const fields = { target: target.name, retry_at: timeText(retryAt) };
      log.line("alert_notification_waits", fields);
      return null;
    }
    const message = { id: messageId(target.name, changes), target: target.name, notices };
    const delivery = await sendMessage(target, message, this.#deps.delivery);
    const { receipt } = delivery;
    this.#state.transaction(() => {
      this.#state.setTarget(target.name, afterSending(before, delivery, sending));
      if (receipt.delivered) this.#noteTold(target.name, owed, context.now);
    });
    log.receipt("alert_notification", receipt, message.id);
    return { receipt, notices };
  }

  #noteTold(target: string, owed: readonly Owed[], now: number): void {
    for (const { notice, track } of owed) {
      const told = this.#state.told(target, notice.fingerprint);
      const next = afterDelivery(track, told, { change: notice.change, now });
      this.#state.setTold(target, notice.fingerprint, next);
    }
  }
}

function owedTo(
  told: Told | null,
  { record: { track }, result }: Evaluated,
  context: NotifyContext,
): readonly Owed[] {
  const change = owedChange(track, told, { ...context, suppressed: result.suppressed });
  if (change === null) return [];
  const isResolved = change === "resolved";
  const quiet = isResolved ? quietUntil(told, context) : null;
  const raisedAt = told?.isOpen === true ? told.raisedAt : (track.raisedAt ?? context.now);
  const lastAt = lastToldAt(track, told);
  const notice: Notice = {
    ...result,
    change,
    startsAt: timeText(raisedAt),
    lastToldAt: lastAt === null ? null : timeText(lastAt),
    endsAt: isResolved ? timeText(context.now) : null,
    quietUntil: quiet === null ? null : timeText(quiet),
  };
  return [{ notice, track }];
}

function afterSending(
  before: TargetRecord,
  { receipt, timedOut }: Delivery,
  sending: { readonly changes: readonly string[]; readonly now: number },
): TargetRecord {
  const unanswered = timedOut ? afterSilence(before.unanswered, sending) : null;
  return receipt.delivered
    ? { failures: 0, lastError: null, lastDeliveredAt: Date.parse(receipt.at), unanswered }
    : { ...before, failures: before.failures + 1, lastError: receipt.error, unanswered };
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
    lastToldAt: null,
    endsAt: null,
    quietUntil: null,
  };
}
