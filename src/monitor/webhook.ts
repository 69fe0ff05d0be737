import type { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";
import { timeText } from "../platform/time.ts";
import { gravest } from "../schemas/check.ts";
import type { RuleFinding } from "./rules.ts";
import type { RuleName, Severity } from "../schemas/rule-names.ts";
import type { AlertChange, Receipt } from "../schemas/alert-run.ts";
import type { WebhookTarget } from "./alert-settings.ts";

type NoticeField =
  "fingerprint" | "labels" | "message" | "value" | "threshold" | "unit" | "evidence";

/** Notification about one alert. Times are RFC 3339. */
export interface Notice extends Pick<RuleFinding, NoticeField> {
  readonly change: AlertChange;
  /** Name of the rule; `test` in a test message. */
  readonly rule: RuleName | "test";
  /**
   * Severities of the alert, each a label. An open alert has one; one that was delivered as `warn`
   * and then as `fail` is resolved under both.
   */
  readonly severities: readonly Severity[];
  /** Raising time of the alert. */
  readonly startsAt: string;
  /** Resolution time; null while open. */
  readonly endsAt: string | null;
}

/** The notices of one evaluation for one target. */
export interface Message {
  /** Stays the same when the same changes are sent again. */
  readonly id: string;
  readonly target: string;
  readonly notices: readonly Notice[];
}

/** Formats a notice in one line, such as `FIRING catalog_stale: …`. */
function headline({ change, rule, labels, message }: Notice): string {
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const subject = named.length === 0 ? rule : `${rule} (${named.join(", ")})`;
  return `${CHANGE_WORDS[change]} ${subject}: ${message}`;
}

const CHANGE_WORDS: { readonly [C in AlertChange]: string } = {
  fired: "FIRING",
  nodata: "NO DATA",
  repeated: "STILL FIRING",
  resolved: "RESOLVED",
};

/** Alertmanager's end time of an open alert. */
const NOT_ENDED = "0001-01-01T00:00:00Z";
const SERVICE = "locations-at-the-edge";

/**
 * Formats a message like Alertmanager's webhook, version 4.
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 */
function alertmanagerBody({ target, notices }: Message): string {
  const alerts = notices.flatMap((notice) =>
    notice.severities.map((severity) => alertOf(notice, severity)),
  );
  return JSON.stringify({
    version: "4",
    groupKey: `{}:{service="${SERVICE}"}`,
    truncatedAlerts: 0,
    status: alerts.some(({ status }) => status === "firing") ? "firing" : "resolved",
    receiver: target,
    groupLabels: { service: SERVICE },
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: "",
    alerts,
  });
}

function alertOf(notice: Notice, severity: Severity) {
  const { change, rule, labels, value, threshold, unit, evidence, fingerprint } = notice;
  return {
    status: change === "resolved" ? "resolved" : "firing",
    labels: { alertname: rule, service: SERVICE, severity, ...labels },
    annotations: {
      summary: headline(notice),
      description: notice.message,
      change,
      value: value === null ? "" : String(value),
      threshold: String(threshold),
      unit,
      evidence: JSON.stringify(evidence),
    },
    startsAt: notice.startsAt,
    endsAt: notice.endsAt ?? NOT_ENDED,
    generatorURL: "",
    fingerprint,
  };
}

/** Returns the pairs that all objects share. */
function common(all: readonly { readonly [name: string]: string }[]): { [name: string]: string } {
  const [first = {}, ...others] = all;
  const shared = Object.entries(first).filter(([name, value]) =>
    others.every((pairs) => pairs[name] === value),
  );
  return Object.fromEntries(shared);
}

const RED = "#c0392b";
const ORANGE = "#d68910";
const GREEN = "#1e8449";

/**
 * Formats a message for an incoming webhook of Slack, Mattermost or Rocket.Chat.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
function slackBody({ notices }: Message): string {
  const resolved = notices.filter(({ change }) => change === "resolved").length;
  const counts = [
    [notices.length - resolved, "firing"],
    [resolved, "resolved"],
  ] as const;
  const summary = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return JSON.stringify({
    text: `Locations at the Edge: ${summary.join(", ")}`,
    attachments: notices.map(attachmentOf),
  });
}

function attachmentOf(notice: Notice) {
  const { change, rule, severities, startsAt, endsAt } = notice;
  const at = Date.parse(endsAt ?? startsAt);
  return {
    color: colorOf(notice),
    fallback: escape(headline(notice)),
    title: escape(headline({ ...notice, message: "" }).replace(/: $/, "")),
    text: escape(notice.message),
    fields: [
      { title: "Rule", value: escape(rule), short: true },
      { title: "Severity", value: gravest(severities), short: true },
      { title: "Since", value: startsAt, short: true },
      { title: "Change", value: change, short: true },
    ],
    ts: Math.floor(at / 1000),
  };
}

function colorOf({ change, severities }: Notice): string {
  if (change === "resolved") return GREEN;
  return severities.includes("fail") ? RED : ORANGE;
}

/** Escapes the three special characters of Slack. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

interface DeliveryLimits {
  /** Deadline for the beginning of an answer. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  /** Wait before the second attempt. It doubles for each further attempt. */
  readonly backoffMs: number;
}

export const DELIVERY_LIMITS: DeliveryLimits = {
  timeoutMs: 5_000,
  maxAttempts: 3,
  backoffMs: 500,
};

/** Sends requests, and keeps the time between them. */
export interface Network {
  readonly fetch: (
    url: string,
    init: {
      readonly method: "POST" | "GET";
      readonly headers: Record<string, string>;
      readonly body?: string;
      readonly redirect: "manual";
      readonly signal: AbortSignal;
    },
  ) => Promise<Response>;
  readonly deliveryLimits: DeliveryLimits;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Result of one request. */
interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * Sends a message and retries transient failures. Never throws.
 *
 * Accepted race: a receiver whose answer is too slow gets the message again. `Webhook-Id` and the
 * fingerprint and start of each alert stay the same, so the receiver can detect duplicates.
 */
export async function sendMessage(
  target: WebhookTarget,
  message: Message,
  network: Network,
): Promise<Receipt> {
  const began = network.now();
  const body = target.kind === "slack" ? slackBody(message) : alertmanagerBody(message);
  let attempts = 0;
  let outcome: Outcome;
  do {
    if (attempts > 0) await network.sleep(network.deliveryLimits.backoffMs * 2 ** (attempts - 1));
    attempts++;
    outcome = await attempt(target, { id: message.id, body }, network);
  } while (mayPass(outcome) && attempts < network.deliveryLimits.maxAttempts);
  const ended = network.now();
  const { status, error } = outcome;
  return {
    target: target.name,
    delivered: error === null,
    attempts,
    status,
    error,
    at: timeText(ended),
    duration_ms: ended - began,
  };
}

async function attempt(
  { url, key }: WebhookTarget,
  message: { readonly id: string; readonly body: string },
  network: Network,
): Promise<Outcome> {
  const headers = {
    "content-type": "application/json",
    "user-agent": "locations-at-the-edge",
    ...webhookHeaders(message, key, network.now()),
  };
  return requestOnce(url, { method: "POST", headers, body: message.body }, network);
}

/** Sends one request. Reads only the status of the answer. */
export async function requestOnce(
  url: string,
  init: { method: "POST" | "GET"; headers: Record<string, string>; body?: string },
  { fetch, deliveryLimits: { timeoutMs } }: Pick<Network, "fetch" | "deliveryLimits">,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    void answer.body?.cancel().catch(() => {});
    return { status: answer.status, error: complaint(answer.status) };
  } catch {
    // The platform's message may contain the URL.
    const error = signal.aborted ? `no answer within ${timeoutMs} ms` : "the connection failed";
    return { status: null, error };
  }
}

function complaint(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? `it answers ${status}, and redirects are not followed`
    : `it answers ${status}`;
}

/** Client errors after which a retry may succeed. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

function mayPass({ status, error }: Outcome): boolean {
  if (error === null) return false;
  return status === null || status >= 500 || PASSING_STATUSES.has(status);
}

/**
 * Returns the headers of a message by Standard Webhooks. The signature is the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`.
 *
 * @param key null for an unsigned message.
 * @param now milliseconds since 1970.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  key: Buffer | null,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (key === null) return headers;
  const digest = node.crypto
    .createHmac("sha256", key)
    .update(`${id}.${timestamp}.${body}`)
    .digest("base64");
  return { ...headers, "webhook-signature": `v1,${digest}` };
}
