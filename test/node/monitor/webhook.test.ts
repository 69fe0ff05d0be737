import type { IncomingHttpHeaders } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signingKey, type WebhookTarget } from "../../../src/monitor/alert-settings.ts";
import { bodyOf, type Message, type Notice } from "../../../src/monitor/messages.ts";
import { type Network, sendMessage } from "../../../src/monitor/webhook.ts";
import {
  reset,
  silence,
  status,
  WEBHOOK_SECRET,
  WebhookReceiver,
} from "../../builders/webhook-receiver.ts";

const DASHBOARD = "https://locations.example.org/dashboard#alerts";
const NOW = Date.parse("2026-11-20T12:00:00.000Z");

const notice: Notice = {
  change: "fired",
  rule: "catalog_stale",
  fingerprint: "00112233445566aa",
  labels: {},
  severities: ["fail"],
  message: "The catalog was last compared with upstream 1 d 7 h ago.",
  value: 111_600_000,
  threshold: 108_000_000,
  unit: "ms",
  evidence: { generation: 7 },
  startsAt: "2026-11-20T11:55:00.000Z",
  endsAt: null,
};

const resolved: Notice = {
  ...notice,
  change: "resolved",
  rule: "notify_failing",
  labels: { target: "ops" },
  severities: ["warn"],
  message: 'The webhook "ops" takes <messages> & more.',
  endsAt: "2026-11-20T12:00:00.000Z",
};

const message: Message = { id: "message-1", target: "ops", notices: [notice, resolved] };

let receiver: WebhookReceiver;
const waits: number[] = [];

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  waits.length = 0;
});

afterEach(async () => {
  await receiver.goAway();
});

const network: Network = {
  fetch: async (url, init) => fetch(url, init),
  deliveryLimits: { timeoutMs: 60_000, maxAttempts: 3, backoffMs: 10 },
  now: () => NOW,
  sleep: async (ms) => void waits.push(ms),
};

/** The receipt of the message. */
async function send(changes: Partial<WebhookTarget> = {}, others: Partial<Network> = {}) {
  const target = { name: "ops", kind: "webhook", url: receiver.url, key: null } as const;
  const sending = { network: { ...network, ...others }, dashboardUrl: DASHBOARD };
  return (await sendMessage({ ...target, ...changes }, message, sending)).receipt;
}

/** Attempts that end after so long. */
const within = (timeoutMs: number) => ({
  deliveryLimits: { ...network.deliveryLimits, timeoutMs },
});

describe("a message in the shape of Alertmanager's webhook", () => {
  it("has every field of its version 4", async () => {
    expect(await send()).toEqual({
      target: "ops",
      delivered: true,
      attempts: 1,
      status: 200,
      error: null,
      at: "2026-11-20T12:00:00.000Z",
      duration_ms: 0,
    });
    expect(receiver.bodies).toEqual([
      {
        version: "4",
        groupKey: '{}:{service="locations-at-the-edge"}',
        truncatedAlerts: 0,
        status: "firing",
        receiver: "ops",
        groupLabels: { service: "locations-at-the-edge" },
        commonLabels: { service: "locations-at-the-edge" },
        commonAnnotations: {
          value: "111600000",
          threshold: "108000000",
          unit: "ms",
          evidence: '{"generation":7}',
        },
        externalURL: DASHBOARD,
        alerts: [
          {
            status: "firing",
            labels: {
              alertname: "catalog_stale",
              service: "locations-at-the-edge",
              severity: "fail",
            },
            annotations: {
              summary:
                "FIRING catalog_stale: The catalog was last compared with upstream 1 d 7 h ago.",
              description: "The catalog was last compared with upstream 1 d 7 h ago.",
              change: "fired",
              value: "111600000",
              threshold: "108000000",
              unit: "ms",
              evidence: '{"generation":7}',
            },
            startsAt: "2026-11-20T11:55:00.000Z",
            endsAt: "0001-01-01T00:00:00Z",
            generatorURL: DASHBOARD,
            fingerprint: "00112233445566aa",
          },
          expect.objectContaining({
            status: "resolved",
            labels: {
              alertname: "notify_failing",
              service: "locations-at-the-edge",
              severity: "warn",
              target: "ops",
            },
            startsAt: "2026-11-20T11:55:00.000Z",
            endsAt: "2026-11-20T12:00:00.000Z",
          }),
        ],
      },
    ]);
  });
});

describe("a message to Alertmanager", () => {
  it("lists alerts whose ends outlive two evaluations, unless they have ended", async () => {
    await send({ kind: "alertmanager" });
    expect(receiver.bodies).toEqual([
      [
        {
          labels: {
            alertname: "catalog_stale",
            service: "locations-at-the-edge",
            severity: "fail",
          },
          annotations: {
            description: "The catalog was last compared with upstream 1 d 7 h ago.",
            value: "111600000",
            threshold: "108000000",
            unit: "ms",
            evidence: '{"generation":7}',
          },
          startsAt: "2026-11-20T11:55:00.000Z",
          endsAt: "2026-11-20T12:15:00.000Z",
          generatorURL: DASHBOARD,
        },
        expect.objectContaining({
          labels: {
            alertname: "notify_failing",
            service: "locations-at-the-edge",
            severity: "warn",
            target: "ops",
          },
          endsAt: "2026-11-20T12:00:00.000Z",
        }),
      ],
    ]);
  });
});

describe("a message in Slack's shape", () => {
  it("has a text and an attachment for each alert, with all markup escaped", async () => {
    await send({ kind: "slack" });
    expect(receiver.bodies).toEqual([
      {
        text: "Locations at the Edge: 1 firing, 1 resolved",
        attachments: [
          {
            color: "#c0392b",
            fallback:
              "FIRING catalog_stale: The catalog was last compared with upstream 1 d 7 h ago.",
            title: "FIRING catalog_stale",
            title_link: DASHBOARD,
            text: "The catalog was last compared with upstream 1 d 7 h ago.",
            fields: [
              { title: "Rule", value: "catalog_stale", short: true },
              { title: "Severity", value: "fail", short: true },
              { title: "Since", value: "2026-11-20T11:55:00.000Z", short: true },
              { title: "Change", value: "fired", short: true },
            ],
            ts: Date.parse("2026-11-20T11:55:00.000Z") / 1000,
          },
          expect.objectContaining({
            color: "#1e8449",
            title: "RESOLVED notify_failing (target=ops)",
            title_link: DASHBOARD,
            text: 'The webhook "ops" takes &lt;messages&gt; &amp; more.',
            ts: NOW / 1000,
          }),
        ],
      },
    ]);
  });

  it("counts apart the alerts that lack data, and those that stay open, which may lack it too", () => {
    const changed = (change: "nodata" | "repeated") => ({ ...notice, change });
    const notices = [notice, changed("nodata"), changed("repeated"), resolved];
    const body = bodyOf("slack", { ...message, notices }, { dashboardUrl: null, now: NOW });
    expect(JSON.parse(body)).toMatchObject({
      text: "Locations at the Edge: 1 firing, 1 without data, 1 still open, 1 resolved",
      attachments: [{}, {}, { title: "STILL OPEN catalog_stale" }, {}],
    });
  });
});

describe("a request", () => {
  it("posts JSON with the message's id, and without a signature if there is no secret", async () => {
    await send();
    expect(receiver.received).toMatchObject([
      {
        method: "POST",
        path: "/hook",
        headers: {
          "content-type": "application/json",
          "user-agent": "locations-at-the-edge",
          "webhook-id": "message-1",
          "webhook-timestamp": String(NOW / 1000),
        },
      },
    ]);
    expect(receiver.received[0]?.headers["webhook-signature"]).toBeUndefined();
  });

  it("carries a Standard Webhooks signature over its id, its time and its exact bytes", async () => {
    const key = signingKey(WEBHOOK_SECRET) ?? null;
    await send({ key }, { now: Date.now });
    const headers: IncomingHttpHeaders = { ...receiver.received[0]?.headers };
    const body = receiver.received[0]?.body ?? "";
    const webhook = new Webhook(WEBHOOK_SECRET);
    const verify = (text: string, changes: IncomingHttpHeaders = {}) =>
      // Node joins these headers, so that each is one text.
      webhook.verify(text, { ...headers, ...changes } as Record<string, string>);
    expect(verify(body)).toEqual(JSON.parse(body));
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => verify(`${body} `)).toThrow(WebhookVerificationError);
    expect(() => verify(body, { "webhook-id": "message-2" })).toThrow(WebhookVerificationError);
    expect(() => verify(body, { "webhook-timestamp": later })).toThrow(WebhookVerificationError);
  });
});

describe("a delivery", () => {
  it("aborts at its time limit and tries again", async () => {
    const ids: (string | undefined)[] = [];
    // Answers the third attempt without a timer, so that a slow machine cannot time it out.
    const fetch: Network["fetch"] = async (_, { headers, signal }) => {
      if (ids.push(headers["webhook-id"]) === 3) return new Response(null, { status: 204 });
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const receipt = await send({}, { fetch, ...within(20) });
    expect(receipt).toMatchObject({ delivered: true, attempts: 3, status: 204, error: null });
    expect(waits).toEqual([10, 20]);
    expect(ids).toEqual(["message-1", "message-1", "message-1"]);
  });

  it.each([
    ["0", 3],
    ["1", 3],
    ["5", 3],
    ["6", 1],
    ["3600", 1],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 1],
    ["Fri, 20 Nov 2026 11:00:00 GMT", 3],
    ["-5", 3],
    ["1.5", 3],
    ["soon", 3],
    ["", 3],
    ["Mon, 01 Jan 0001", 3],
    [undefined, 3],
  ])(
    "is left to the next evaluation if the answer says when: %j (%i attempts)",
    async (value, attempts) => {
      for (const code of [429, 503]) {
        receiver.answers = [status(code, value === undefined ? {} : { "retry-after": value })];
        expect(await send()).toMatchObject({ delivered: false, attempts, status: code });
      }
      receiver.answers = [status(400, { "retry-after": "60" })];
      expect(await send()).toMatchObject({ delivered: false, attempts: 1 });
      expect(receiver.received).toHaveLength(2 * attempts + 1);
    },
  );

  it("waits between its attempts as long as the answer says, but no less than usual", async () => {
    const asked = ["3", "0"].map((seconds) => status(429, { "retry-after": seconds }));
    receiver.answers = [...asked, status(200)];
    expect(await send()).toMatchObject({ delivered: true, attempts: 3 });
    expect(waits).toEqual([3_000, 20]);
  });

  it("ends after three attempts without an answer", async () => {
    receiver.answers = [silence];
    expect(await send({}, within(100))).toMatchObject({
      delivered: false,
      attempts: 3,
      status: null,
      error: "no answer within 100 ms",
    });
  });

  it("tries again when the connection breaks", async () => {
    receiver.answers = [reset, status(200)];
    expect(await send()).toMatchObject({ delivered: true, attempts: 2 });
  });

  it("reports a refused connection without the address", async () => {
    await receiver.goAway();
    const receipt = await send();
    expect(receipt).toMatchObject({
      delivered: false,
      attempts: 3,
      status: null,
      error: "the connection failed",
    });
    expect(JSON.stringify(receipt)).not.toContain("127.0.0.1");
  });

  it.each([500, 502, 503, 429, 408])("tries again after the status %i", async (code) => {
    receiver.answers = [status(code), status(200)];
    expect(await send()).toMatchObject({ delivered: true, attempts: 2 });
  });

  it.each([400, 401, 403, 404, 410])("does not try again after the status %i", async (code) => {
    receiver.answers = [status(code)];
    expect(await send()).toMatchObject({
      delivered: false,
      attempts: 1,
      status: code,
      error: `it answers ${code}`,
    });
  });

  it.each([301, 302, 307, 308])("does not follow the redirect %i", async (code) => {
    const elsewhere = await WebhookReceiver.start();
    receiver.answers = [status(code, { location: elsewhere.url })];
    expect(await send()).toMatchObject({
      delivered: false,
      attempts: 1,
      error: `it answers ${code}, and redirects are not followed`,
    });
    expect(elsewhere.received).toEqual([]);
    await elsewhere.goAway();
  });
});
