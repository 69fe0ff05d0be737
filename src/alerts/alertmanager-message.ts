import { headline, type Message, type Notice } from "./notice.ts";

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
