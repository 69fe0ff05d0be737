import type { Severity } from "../health/rule-names.ts";
import type { Log } from "../log.ts";
import { timeText } from "../storage/time.ts";
import { sha256Hex } from "../catalog/bytes.ts";
import type { AlertChange, AlertRun, PingOutcome, Receipt } from "./alert-run.ts";
import { type AlertTrack, type Evaluated, needsAttention } from "./alert-state.ts";
import type { DeliveryRecord, MonitorState, Undelivered } from "./monitor-state.ts";
import { type Notice, sendMessage, requestOnce } from "./webhook.ts";
import type { AlertConfig, WebhookTarget } from "./settings.ts";
import type { Platform } from "./platform.ts";

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
  /** Interval at which an open alert is repeated. */
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
  readonly #platform: Platform;
  readonly #state: MonitorState;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#state = platform.state;
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
    const id = this.#platform.newId();
    const log = logOf(this.#platform.log, id);
    const notices = [testNotice(by, timeText(this.#platform.now()))];
    const receipts = await Promise.all(
      chosen.map((target) =>
        sendMessage(target, { id, target: target.name, notices }, this.#platform),
      ),
    );
    for (const receipt of receipts) logReceipt(log, "alert_test", { id, receipt });
    return { ok: true, receipts };
  }

  /** Pings the dead-man's switch after an evaluation. */
  async ping(url: string | null, log: Log): Promise<PingOutcome> {
    if (url === null) return "not_configured";
    const headers = { "user-agent": "locations-at-the-edge" };
    const { error } = await requestOnce(url, { method: "GET", headers }, this.#platform);
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
    const log = logOf(this.#platform.log, runId);
    const sent = await Promise.all(
      [...messages].map(async ([id, notices]): Promise<Sent> => {
        const receipt = await sendMessage(target, { id, target: name, notices }, this.#platform);
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
    severities: severitiesDue(record, { change, severity: result.severity }),
    startsAt: timeText(raisedAt),
    deliveredAt: record === null ? null : timeText(record.deliveredAt),
    endsAt: change === "resolved" ? timeText(context.now) : null,
  };
  return [notice];
}

/**
 * Returns the severities of a notice. The severity is a label, and receivers tell alerts apart by
 * their labels: an open alert stays as grave as it was, and its end has every severity that the target
 * knows.
 */
function severitiesDue(
  record: DeliveryRecord | null,
  { change, severity }: { readonly change: AlertChange; readonly severity: Severity },
): readonly Severity[] {
  const known = record?.isOpen === true ? (record.severities ?? []) : [];
  if (change === "resolved" && known.length > 0) return known;
  return known.includes("fail") ? ["fail"] : [severity];
}

function testNotice(by: string, at: string): Notice {
  return {
    change: "fired",
    rule: "test",
    fingerprint: "0000000000000000",
    labels: {},
    severities: ["warn"],
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

interface DeliveryContext extends NotifyContext {
  /** Whether a pause excuses the alert, so that raising it notifies nobody. */
  readonly suppressed: boolean;
}

/**
 * Returns the change of an alert that is due to a target; null if none is. Only the alert's state and
 * what was delivered determine it: a failed delivery is due again at the next evaluation, in the same
 * message, and a successful one never.
 */
export function dueChange(
  track: AlertTrack,
  record: DeliveryRecord | null,
  { now, repeatMs, suppressed }: DeliveryContext,
): AlertChange | null {
  const open = record?.isOpen === true ? record : null;
  if (track.raisedAt === null) return open === null ? null : "resolved";
  // A recovering alert may resolve at the next evaluation.
  if (suppressed || track.goods > 0 || !needsAttention(track.state)) return null;
  const isFiring = track.state === "firing";
  const isKnown = open !== null && (isFiring ? open.saidFired : open.saidNodata);
  if (!isKnown) return isFiring ? "fired" : "nodata";
  return now - open.deliveredAt >= repeatMs ? "repeated" : null;
}

/** Identifies a change across evaluations. */
export interface ChangeKey {
  readonly fingerprint: string;
  readonly change: AlertChange;
  /** Raising time of the alert (RFC 3339). */
  readonly startsAt: string;
  /** Time of the last delivery to the target (RFC 3339); null if never. */
  readonly deliveredAt: string | null;
}

/** Returns the record after the delivery of a change at `now`. */
export function afterDelivery(
  record: DeliveryRecord | null,
  { change, startsAt, severities }: Pick<Notice, "change" | "startsAt" | "severities">,
  now: number,
): DeliveryRecord {
  const open = record?.isOpen === true ? record : null;
  return {
    isOpen: change !== "resolved",
    raisedAt: Date.parse(startsAt),
    deliveredAt: now,
    saidFired: open?.saidFired === true || change === "fired",
    saidNodata: open?.saidNodata === true || change === "nodata",
    severities: [...new Set([...(open?.severities ?? []), ...severities])],
  };
}

/**
 * Groups the due changes of a target into messages by `Webhook-Id`. An undelivered change stays in
 * its message; all new changes form one more message.
 */
export function intoMessages<C extends ChangeKey>(
  target: string,
  due: readonly C[],
  undelivered: Undelivered,
): ReadonlyMap<string, readonly C[]> {
  const isNew = (change: C) => undelivered[changeKey(change)] === undefined;
  const newId = messageId(target, due.filter(isNew).map(changeKey));
  return Map.groupBy(due, (change) => undelivered[changeKey(change)] ?? newId);
}

/** Lists the changes of messages that are about to be sent. */
export function asUndelivered(
  messages: Iterable<readonly [id: string, changes: readonly ChangeKey[]]>,
): Undelivered {
  return Object.fromEntries(
    [...messages].flatMap(([id, changes]) => changes.map((change) => [changeKey(change), id])),
  );
}

function changeKey({ fingerprint, change, startsAt, deliveredAt }: ChangeKey): string {
  return [fingerprint, change, startsAt, deliveredAt ?? "never"].join("|");
}

/** Hex digits of a message's id. */
const ID_LENGTH = 32;

function messageId(target: string, changeKeys: readonly string[]): string {
  return sha256Hex(JSON.stringify([target, ...changeKeys.toSorted()])).slice(0, ID_LENGTH);
}
