import type { Log } from "../log.ts";
import { timeText } from "../storage/time.ts";
import type { AlertRun, PingOutcome, Receipt } from "./alert-run.ts";
import type { Evaluated } from "./evaluation.ts";
import {
  afterDelivery,
  asUndelivered,
  type DeliveryRecord,
  dueChange,
  intoMessages,
} from "./deliveries.ts";
import type { MonitorState } from "./monitor-state.ts";
import type { Notice } from "./message.ts";
import type { AlertConfig } from "./settings.ts";
import { type DeliveryDependencies, request, sendMessage, type WebhookTarget } from "./webhook.ts";

export interface NotifierDependencies {
  readonly state: MonitorState;
  readonly delivery: DeliveryDependencies;
  readonly newId: () => string;
  readonly log: Log;
}

export type TestOutcome =
  | { readonly ok: true; readonly receipts: readonly Receipt[] }
  | {
      readonly ok: false;
      readonly reason: "unknown_target" | "no_targets";
      readonly targets: readonly string[];
    };

interface NotifyContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly repeatMs: number;
}

/** A sent message with its receipt. */
interface Sent {
  readonly id: string;
  readonly notices: readonly Notice[];
  readonly receipt: Receipt;
}

/** Sends due messages to the webhooks and records each delivery at once. */
export class Notifier {
  readonly #deps: NotifierDependencies;
  readonly #state: MonitorState;

  constructor(deps: NotifierDependencies) {
    this.#deps = deps;
    this.#state = deps.state;
  }

  /** Sends all due messages. Returns the evaluation with the receipts. */
  async notifyAll(
    run: AlertRun,
    evaluated: readonly Evaluated[],
    { config, now }: { readonly config: AlertConfig; readonly now: number },
  ): Promise<AlertRun> {
    const { repeatMs } = config.limits;
    const all = await Promise.all(
      config.targets.map((target) => this.#notify(run, target, evaluated, { now, repeatMs })),
    );
    const sent = all.flat();
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
      notify_failed: deliveries.length - notified,
      changed: run.changed || deliveries.length > 0,
    };
  }

  /** Sends a test message to the named target, or to all targets. */
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
    const log = logOf(this.#deps.log, id);
    const notices = [testNotice(by, timeText(delivery.now()))];
    const receipts = await Promise.all(
      chosen.map((target) => sendMessage(target, { id, target: target.name, notices }, delivery)),
    );
    for (const receipt of receipts) logReceipt(log, "alert_test", { id, receipt });
    return { ok: true, receipts };
  }

  /** Pings the dead-man's switch after an evaluation. */
  async ping(url: string | null, log: Log): Promise<PingOutcome> {
    if (url === null) return "not_configured";
    const headers = { "user-agent": "locations-at-the-edge" };
    const { error } = await request(url, { method: "GET", headers }, this.#deps.delivery);
    if (error === null) return "sent";
    log("warn", "alerts_ping_failed", { error });
    return "failed";
  }

  /** Sends the due messages of one target: the undelivered ones and one with all new changes. */
  async #notify(
    { id: runId }: AlertRun,
    target: WebhookTarget,
    evaluated: readonly Evaluated[],
    context: NotifyContext,
  ): Promise<readonly Sent[]> {
    const { name } = target;
    const due = evaluated.flatMap((alert) =>
      noticesDue(this.#state.delivery(name, alert.result.fingerprint), alert, context),
    );
    const before = this.#state.target(name);
    const messages = intoMessages(name, due, before.undelivered);
    // Stores the ids before sending, because a crash must not change them.
    const undelivered = asUndelivered(messages);
    this.#state.transaction(() => this.#state.setTarget(name, { ...before, undelivered }));
    const log = logOf(this.#deps.log, runId);
    const sent = await Promise.all(
      [...messages].map(async ([id, notices]): Promise<Sent> => {
        const receipt = await sendMessage(
          target,
          { id, target: name, notices },
          this.#deps.delivery,
        );
        if (receipt.delivered)
          this.#state.transaction(() => this.#recordDeliveries(name, notices, context.now));
        logReceipt(log, "alert_notification", { id, receipt });
        return { id, receipt, notices };
      }),
    );
    this.#state.transaction(() => this.#recordReceipts(name, sent));
    return sent;
  }

  #recordReceipts(target: string, sent: readonly Sent[]): void {
    if (sent.length === 0) return;
    const before = this.#state.target(target);
    const failed = sent.filter(({ receipt }) => !receipt.delivered);
    this.#state.setTarget(target, {
      failures: failed.length === 0 ? 0 : before.failures + 1,
      lastError: failed[0]?.receipt.error ?? null,
      undelivered: asUndelivered(failed.map(({ id, notices }) => [id, notices])),
    });
  }

  #recordDeliveries(target: string, notices: readonly Notice[], now: number): void {
    for (const notice of notices) {
      const record = this.#state.delivery(target, notice.fingerprint);
      this.#state.setDelivery(target, notice.fingerprint, afterDelivery(record, notice, now));
    }
  }
}

/** Adds the id of an evaluation or a test to each line. */
export function logOf(write: Log, id: string): Log {
  return (level, event, fields) => write(level, event, { alert_run_id: id, ...fields });
}

function logReceipt(log: Log, event: string, { id, receipt }: Pick<Sent, "id" | "receipt">) {
  log(receipt.delivered ? "info" : "warn", event, { webhook_id: id, ...receipt });
}

function noticesDue(
  record: DeliveryRecord | null,
  { record: { track }, result }: Evaluated,
  context: NotifyContext,
): readonly Notice[] {
  const change = dueChange(track, record, { ...context, suppressed: result.suppressed });
  if (change === null) return [];
  const raisedAt = record?.isOpen === true ? record.raisedAt : (track.raisedAt ?? context.now);
  const notice: Notice = {
    ...result,
    change,
    startsAt: timeText(raisedAt),
    deliveredAt: record === null ? null : timeText(record.deliveredAt),
    endsAt: change === "resolved" ? timeText(context.now) : null,
  };
  return [notice];
}

function testNotice(by: string, at: string): Notice {
  return {
    change: "fired",
    rule: "test",
    fingerprint: "0000000000000000",
    labels: {},
    severity: "warn",
    message: `${by} has sent this as a test; there is nothing to do.`,
    value: null,
    threshold: 0,
    unit: "runs",
    evidence: {},
    startsAt: at,
    deliveredAt: null,
    endsAt: null,
  };
}
