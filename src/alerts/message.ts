import type { Change } from "./deliveries.ts";
import type { RuleFinding, RuleName } from "../health/rules.ts";

type Finding =
  "fingerprint" | "labels" | "severity" | "message" | "value" | "threshold" | "unit" | "evidence";

/** Notification about one alert. Times are RFC 3339. */
export interface Notice extends Pick<RuleFinding, Finding> {
  readonly change: Change;
  /** Name of the rule; `test` in a test message. */
  readonly rule: RuleName | "test";
  /** Raising time of the alert. */
  readonly startsAt: string;
  /** Time of the last notification of the target about this alert; null if never. */
  readonly deliveredAt: string | null;
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
export function headline({ change, rule, labels, message }: Notice): string {
  const named = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const subject = named.length === 0 ? rule : `${rule} (${named.join(", ")})`;
  return `${WORDS[change]} ${subject}: ${message}`;
}

const WORDS: { readonly [C in Change]: string } = {
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
export function alertmanagerBody({ target, notices }: Message): string {
  const alerts = notices.map(alertOf);
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

function alertOf(notice: Notice) {
  const { change, rule, labels, severity, value, threshold, unit, evidence, fingerprint } = notice;
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
    others.every((each) => each[name] === value),
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
export function slackBody({ notices }: Message): string {
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
  const { change, rule, severity, startsAt, endsAt } = notice;
  const at = Date.parse(endsAt ?? startsAt);
  return {
    color: colorOf(notice),
    fallback: escape(headline(notice)),
    title: escape(headline({ ...notice, message: "" }).replace(/: $/, "")),
    text: escape(notice.message),
    fields: [
      { title: "Rule", value: escape(rule), short: true },
      { title: "Severity", value: severity, short: true },
      { title: "Since", value: startsAt, short: true },
      { title: "Change", value: change, short: true },
    ],
    ts: Math.floor(at / 1000),
  };
}

function colorOf({ change, severity }: Notice): string {
  if (change === "resolved") return GREEN;
  return severity === "fail" ? RED : ORANGE;
}

/** Escapes the three special characters of Slack. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
