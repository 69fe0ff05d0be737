import type { Buffer } from "node:buffer";
import { node } from "../platform/node.ts";
import { parseRetryAfter } from "../platform/http-dates.ts";
import { durationOf, timeText } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { Receipt } from "../schemas/alert-run.ts";
import type { WebhookTarget } from "./alert-settings.ts";
import { bodyOf, type Message } from "./messages.ts";

interface DeliveryLimits {
  readonly timeoutMs: DurationMs;
  readonly maxAttempts: number;
  /** Wait before the second attempt. It doubles for each further attempt. */
  readonly backoffMs: DurationMs;
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
  readonly sleep: (ms: DurationMs) => Promise<void>;
  readonly now: () => EpochMs;
}

interface Sending {
  readonly network: Network;
  /** The link in messages, as in `bodyOf`. */
  readonly dashboardUrl: string | null;
}

interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  /** The receiver's requested wait; null if it requested none. */
  readonly retryAfterMs: DurationMs | null;
}

interface Sent {
  readonly receipt: Receipt;
  /** Of the last attempt. */
  readonly retryAfterMs: DurationMs | null;
}

/**
 * Sends a message and retries transient failures, unless the receiver wants a longer wait. Never throws.
 *
 * Accepted race: a receiver whose answer is too slow gets the message again. `Webhook-Id` and the
 * fingerprint and start of each alert stay the same, so the receiver can detect duplicates.
 */
export async function sendMessage(
  target: WebhookTarget,
  message: Message,
  { network, dashboardUrl }: Sending,
): Promise<Sent> {
  const startedAt = network.now();
  const body = bodyOf(target.kind, message, { dashboardUrl, now: startedAt });
  let attempts = 0;
  let outcome: Outcome;
  for (;;) {
    attempts++;
    outcome = await attempt(target, { id: message.id, body }, network);
    if (!mayRepeat(outcome) || attempts >= network.deliveryLimits.maxAttempts) break;
    const backoffMs = network.deliveryLimits.backoffMs * 2 ** (attempts - 1);
    await network.sleep(Math.max(backoffMs, outcome.retryAfterMs ?? 0));
  }
  const ended = network.now();
  const { status, error, retryAfterMs } = outcome;
  return {
    receipt: {
      target: target.name,
      delivered: error === null,
      attempts,
      status,
      error,
      at: timeText(ended),
      duration_ms: durationOf(startedAt, ended),
    },
    retryAfterMs,
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

/** Sends one request. Reads no body of the answer. */
export async function requestOnce(
  url: string,
  init: { method: "POST" | "GET"; headers: Record<string, string>; body?: string },
  { fetch, deliveryLimits: { timeoutMs }, now }: Pick<Network, "fetch" | "deliveryLimits" | "now">,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    void answer.body?.cancel().catch(() => {});
    const { status, headers } = answer;
    const retryAfterMs = isTransient(status)
      ? parseRetryAfter(headers.get("retry-after"), now())
      : null;
    return { status, error: complaint(status), retryAfterMs };
  } catch {
    // The platform's message may contain the URL.
    const error = signal.aborted ? `no answer within ${timeoutMs} ms` : "the connection failed";
    return { status: null, error, retryAfterMs: null };
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
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

function isTransient(status: number): boolean {
  return status >= 500 || TRANSIENT_STATUSES.has(status);
}

/**
 * Longest wait between attempts that a receiver may request. After a longer one, the message is not
 * sent again.
 */
const WAIT_MAX_MS = 5_000;

function mayRepeat({ status, retryAfterMs }: Outcome): boolean {
  return status === null || (isTransient(status) && (retryAfterMs ?? 0) <= WAIT_MAX_MS);
}

/**
 * Returns the headers of a message by Standard Webhooks. The signature is the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`.
 *
 * @param key null for an unsigned message.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  key: Buffer | null,
  now: EpochMs,
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
