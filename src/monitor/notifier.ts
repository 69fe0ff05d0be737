import type { Log } from "../platform/log.ts";
import { isRecent, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs, Instant } from "../platform/units.ts";
import { increased } from "../platform/ranges.ts";
import type { AlertRun, PingOutcome, Receipt } from "../schemas/alert-run.ts";
import type { Evaluated } from "./alert-state.ts";
import {
  afterDelivery,
  beforeDelivery,
  type DueNotice,
  noticesDue,
  RETRY_AFTER_MAX_MS,
  type TargetRecord,
} from "./deliveries.ts";
import type { MonitorState } from "./monitor-state.ts";
import type { Notice } from "./messages.ts";
import { sendMessage, requestOnce } from "./webhook.ts";
import type { AlertConfig, WebhookTarget } from "./alert-settings.ts";
import type { MonitorPlatform } from "./monitor-platform.ts";

/** A sent message with its receipt. */
interface Sent {
  readonly id: string;
  readonly notices: readonly DueNotice[];
  readonly receipt: Receipt;
  readonly retryAfterMs: DurationMs | null;
}

/** Sends due messages to the webhooks and records each delivery at once. */
export class Notifier {
  readonly #platform: MonitorPlatform;
  readonly #state: MonitorState;

  constructor(platform: MonitorPlatform) {
    this.#platform = platform;
    this.#state = platform.state;
  }

  /** Sends all due messages. Returns the evaluation with the receipts. */
  async notifyAll(
    run: AlertRun,
    evaluated: readonly Evaluated[],
    { config, now }: { readonly config: AlertConfig; readonly now: EpochMs },
  ): Promise<AlertRun> {
    const { repeatMs } = config.limits;
    const all = await Promise.all(
      config.targets.map((target) => this.#notify(run, target, evaluated, { now, repeatMs })),
    );
    const sent = all.flatMap((messages) => messages.sent);
    const withheld = all.reduce((sum, messages) => sum + messages.withheld, 0);
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
      notify_failed: deliveries.length - notified + withheld,
      changed: run.changed || sent.some(isNews),
    };
  }

  /** Sends an alert that ends to all targets. Returns the receipt of the last message of each. */
  async test(targets: readonly WebhookTarget[], by: string): Promise<readonly Receipt[]> {
    const log = logOf(this.#platform.log, this.#platform.newId());
    return Promise.all(targets.map((target) => this.#testOne(target, by, log)));
  }

  async #testOne(target: WebhookTarget, by: string, log: Log): Promise<Receipt> {
    const now = this.#platform.now();
    const fired = testNotice(by, timeText(now));
    const send = async (notice: Notice) => {
      const id = this.#platform.newId();
      const { receipt } = await this.#send(target, id, [notice]);
      if (receipt.delivered) this.#update(target, (record) => ({ ...record, silence: undefined }));
      logReceipt(log, "alert_test", { id, receipt });
      return receipt;
    };
    // Alertmanager sends nothing about an alert that ends before it has processed it.
    if (target.kind === "alertmanager")
      return send({ ...fired, endsAt: timeText(now + TEST_LASTS_MS) });
    const receipt = await send(fired);
    if (!receipt.delivered) return receipt;
    return send({ ...fired, change: "resolved", endsAt: timeText(this.#platform.now()) });
  }

  async ping(url: string | null, log: Log): Promise<PingOutcome> {
    if (url === null) return "not_configured";
    const headers = { "user-agent": "locations-at-the-edge" };
    const { error } = await requestOnce(url, { method: "GET", headers }, this.#platform);
    if (error === null) return "sent";
    log("warn", "alerts_ping_failed", { error });
    return "failed";
  }

  /**
   * Sends a target the messages that it has not accepted yet, under the same ids, and new changes in
   * one message.
   */
  async #notify(
    { id: runId }: AlertRun,
    target: WebhookTarget,
    evaluated: readonly Evaluated[],
    context: { readonly now: EpochMs; readonly repeatMs: DurationMs },
  ): Promise<{ readonly sent: readonly Sent[]; readonly withheld: number }> {
    const newId = this.#platform.newId();
    const forgets = target.kind === "alertmanager";
    const known = this.#state.target(target);
    const due = noticesDue(known, evaluated, { ...context, forgets, newId });
    const messages = Map.groupBy(due, ({ messageId }) => messageId);
    const { since = 0, ms = 0 } = known.silence ?? {};
    if (due.length > 0 && isRecent(since, ms, context.now)) {
      this.#update(target, (record) => ({ ...record, failures: increased(record.failures) }));
      return { sent: [], withheld: messages.size };
    }
    // Stores the ids before sending, because a crash must not change them.
    this.#update(target, (record) => beforeDelivery(record, due));
    const log = logOf(this.#platform.log, runId);
    const sent = await Promise.all(
      [...messages].map(async ([id, notices]): Promise<Sent> => {
        const { receipt, retryAfterMs } = await this.#send(target, id, notices);
        if (receipt.delivered)
          this.#update(target, (record) => afterDelivery(record, notices, context.now));
        logReceipt(log, "alert_notification", { id, receipt });
        return { id, receipt, retryAfterMs, notices };
      }),
    );
    const failed = sent.find(({ receipt }) => !receipt.delivered);
    const waitMs = Math.max(0, ...sent.map(({ retryAfterMs }) => retryAfterMs ?? 0));
    const silence = { since: context.now, ms: Math.min(waitMs, RETRY_AFTER_MAX_MS) };
    if (sent.length > 0)
      this.#update(target, (record) => ({
        ...record,
        failures: failed === undefined ? 0 : increased(record.failures),
        lastError: failed?.receipt.error ?? null,
        silence: waitMs > 0 ? silence : undefined,
      }));
    return { sent, withheld: 0 };
  }

  #send(target: WebhookTarget, id: string, notices: readonly Notice[]) {
    const { dashboardUrl } = this.#platform.config;
    const message = { id, target: target.name, notices };
    return sendMessage(target, message, { network: this.#platform, dashboardUrl });
  }

  #update(target: WebhookTarget, change: (record: TargetRecord) => TargetRecord): void {
    this.#state.transaction(() =>
      this.#state.setTarget(target, change(this.#state.target(target))),
    );
  }
}

/** Whether a message has news, or did not arrive. */
function isNews({ receipt, notices }: Sent): boolean {
  return !receipt.delivered || notices.some(({ change }) => change !== "repeated");
}

/** How long the test alert is open in Alertmanager, which groups alerts for half a minute first. */
const TEST_LASTS_MS = 5 * 60_000;

/** Adds the id of an evaluation or a test to each line. */
export function logOf(write: Log, id: string): Log {
  return (level, event, fields) => write(level, event, { alert_run_id: id, ...fields });
}

function logReceipt(log: Log, event: string, { id, receipt }: Pick<Sent, "id" | "receipt">) {
  log(receipt.delivered ? "info" : "warn", event, { webhook_id: id, ...receipt });
}

function testNotice(by: string, at: Instant): Notice {
  return {
    change: "fired",
    rule: "test",
    fingerprint: "0000000000000000",
    labels: {},
    severities: ["warn"],
    message: `${by} has sent this as a test; there is nothing to do.`,
    value: null,
    threshold: null,
    unit: null,
    evidence: {},
    startsAt: at,
    endsAt: null,
  };
}
