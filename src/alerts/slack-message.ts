import { headline, type Message, type Notice } from "./notice.ts";

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
