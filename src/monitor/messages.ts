/** Formats the messages for each kind of receiver. Pure: no clock, no I/O. */
import { timeText } from "../platform/time.ts";
import type { EpochMs, Instant } from "../platform/units.ts";
import { mostSevere } from "../schemas/check.ts";
import type { RuleFinding } from "./rules.ts";
import type { RuleName, Severity, Unit } from "../schemas/rule-names.ts";
import type { AlertChange } from "../schemas/alert-run.ts";
import { MONITOR_GAP_MS, type WebhookTarget } from "./alert-settings.ts";

type NoticeField = "fingerprint" | "labels" | "message" | "value" | "evidence";

export interface Notice extends Pick<RuleFinding, NoticeField> {
  /** Null, like the unit, in a test message, which measures nothing. */
  readonly threshold: number | null;
  readonly unit: Unit | null;
  readonly change: AlertChange;
  /** Name of the rule; `test` in a test message. */
  readonly rule: RuleName | "test";
  /** Each is a label. An alert that was delivered as `warn` and later as `fail` is resolved under both. */
  readonly severities: readonly Severity[];
  /** Raising time of the alert. */
  readonly startsAt: Instant;
  /** Null while open, except for Alertmanager. */
  readonly endsAt: Instant | null;
}

/** The notices of one evaluation for one target. */
export interface Message {
  /** Stays the same when the same changes are sent again. */
  readonly id: string;
  readonly target: string;
  readonly notices: readonly Notice[];
}

interface MessageContext {
  /** Address of the alerts in the dashboard; null if the service does not know its address. */
  readonly dashboardUrl: string | null;
  readonly now: EpochMs;
}

/** Formats a message as JSON for the kind of its receiver. */
export function bodyOf(
  kind: WebhookTarget["kind"],
  message: Message,
  context: MessageContext,
): string {
  const format = { alertmanager: alertmanagerBody, slack: slackBody, webhook: webhookBody }[kind];
  return JSON.stringify(format(message, context));
}

/** Formats the subject of a notice, such as `FIRING queue_backlog (queue=ingest)`. */
function titleOf({ change, rule, labels }: Notice): string {
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const subject = named.length === 0 ? rule : `${rule} (${named.join(", ")})`;
  return `${CHANGE_WORDS[change]} ${subject}`;
}

const headline = (notice: Notice) => `${titleOf(notice)}: ${notice.message}`;

const CHANGE_WORDS: { readonly [C in AlertChange]: string } = {
  fired: "FIRING",
  nodata: "NO DATA",
  repeated: "STILL OPEN", // it fires, or lacks data
  resolved: "RESOLVED",
};

/** The end time of an open alert in Alertmanager's messages. */
const NOT_ENDED = "0001-01-01T00:00:00Z";
const SERVICE = "locations-at-the-edge";

/**
 * Lists alerts for Alertmanager's API. Alertmanager ends an open alert at its `endsAt` unless it
 * receives the alert again, so that time allows for one failed evaluation.
 * https://prometheus.io/docs/alerting/latest/alerts_api
 */
function alertmanagerBody({ notices }: Message, { dashboardUrl, now }: MessageContext) {
  return notices.flatMap((notice) =>
    notice.severities.map((severity) => ({
      labels: labelsOf(notice, severity),
      annotations: annotationsOf(notice),
      startsAt: notice.startsAt,
      endsAt: notice.endsAt ?? timeText(now + MONITOR_GAP_MS),
      ...(dashboardUrl !== null && { generatorURL: dashboardUrl }),
    })),
  );
}

function labelsOf({ rule, labels }: Notice, severity: Severity) {
  return { alertname: rule, service: SERVICE, severity, ...labels };
}

function annotationsOf({ message, value, threshold, unit, evidence }: Notice) {
  return {
    description: message,
    ...(unit !== null && { value: String(value ?? ""), threshold: String(threshold), unit }),
    evidence: JSON.stringify(evidence),
  };
}

/**
 * Formats a message like those that Alertmanager sends to a webhook, version 4.
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 */
function webhookBody({ target, notices }: Message, { dashboardUrl }: MessageContext) {
  const url = dashboardUrl ?? "";
  const alerts = notices.flatMap((notice) =>
    notice.severities.map((severity) => webhookAlert(notice, severity, url)),
  );
  return {
    version: "4",
    groupKey: `{}:{service="${SERVICE}"}`,
    truncatedAlerts: 0,
    status: alerts.some(({ status }) => status === "firing") ? "firing" : "resolved",
    receiver: target,
    groupLabels: { service: SERVICE },
    commonLabels: common(alerts.map(({ labels }) => labels)),
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
    externalURL: url,
    alerts,
  };
}

function webhookAlert(notice: Notice, severity: Severity, generatorURL: string) {
  const { change, startsAt, endsAt, fingerprint } = notice;
  return {
    status: change === "resolved" ? "resolved" : "firing",
    labels: labelsOf(notice, severity),
    annotations: { summary: headline(notice), ...annotationsOf(notice), change },
    startsAt,
    endsAt: endsAt ?? NOT_ENDED,
    generatorURL,
    fingerprint,
  };
}

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
function slackBody({ notices }: Message, { dashboardUrl }: MessageContext) {
  const words = {
    fired: "firing",
    repeated: "still open",
    nodata: "without data",
    resolved: "resolved",
  };
  const counts = Map.groupBy(notices, ({ change }) => words[change]);
  const summary = [...counts].map(([word, { length }]) => `${length} ${word}`);
  return {
    text: `Locations at the Edge: ${summary.join(", ")}`,
    attachments: notices.map((notice) => attachmentOf(notice, dashboardUrl)),
  };
}

function attachmentOf(notice: Notice, dashboardUrl: string | null) {
  const { change, rule, severities, startsAt, endsAt } = notice;
  const at = Date.parse(endsAt ?? startsAt);
  return {
    color: colorOf(notice),
    fallback: escape(headline(notice)),
    title: escape(titleOf(notice)),
    ...(dashboardUrl !== null && { title_link: dashboardUrl }),
    text: escape(notice.message),
    fields: [
      { title: "Rule", value: escape(rule), short: true },
      { title: "Severity", value: mostSevere(severities), short: true },
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

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
