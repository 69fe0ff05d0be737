import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { timeText } from "../storage/time.ts";
import type { Receipt } from "./alert-run.ts";
import { alertmanagerBody, type Message, slackBody } from "./message.ts";

export const WEBHOOK_KINDS = ["alertmanager", "slack"] as const;

/** A receiver of messages. `url` and `key` are never shown or logged. */
export interface WebhookTarget {
  readonly name: string;
  readonly kind: (typeof WEBHOOK_KINDS)[number];
  readonly url: string;
  /** Key of the signatures; null to send unsigned messages. */
  readonly key: Buffer | null;
}

/** The part of the platform's `fetch` that notifications use. */
export type NotifyFetch = (
  url: string,
  init: {
    readonly method: "POST" | "GET";
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

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

export interface DeliveryDependencies {
  readonly fetch: NotifyFetch;
  readonly limits: DeliveryLimits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
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
  deps: DeliveryDependencies,
): Promise<Receipt> {
  const began = deps.now();
  const body = target.kind === "slack" ? slackBody(message) : alertmanagerBody(message);
  let attempts = 0;
  let outcome: Outcome;
  do {
    if (attempts > 0) await deps.sleep(deps.limits.backoffMs * 2 ** (attempts - 1));
    attempts++;
    outcome = await attempt(target, { id: message.id, body }, deps);
  } while (mayPass(outcome) && attempts < deps.limits.maxAttempts);
  const ended = deps.now();
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
  deps: DeliveryDependencies,
): Promise<Outcome> {
  const headers = {
    "content-type": "application/json",
    "user-agent": "locations-at-the-edge",
    ...webhookHeaders(message, key, deps.now()),
  };
  return request(url, { method: "POST", headers, body: message.body }, deps);
}

/** Sends one request. Reads only the status of the answer. */
export async function request(
  url: string,
  init: { method: "POST" | "GET"; headers: Record<string, string>; body?: string },
  { fetch, limits }: Pick<DeliveryDependencies, "fetch" | "limits">,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  try {
    const answer = await fetch(url, { ...init, redirect: "manual", signal });
    void answer.body?.cancel().catch(() => {});
    return { status: answer.status, error: complaint(answer.status) };
  } catch {
    // The platform's message may contain the URL.
    const error = signal.aborted
      ? `no answer within ${limits.timeoutMs} ms`
      : "the connection failed";
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

/** A secret of Standard Webhooks: `whsec_` and the key in base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
/** Lengths of a key. */
const KEY_BYTES = { min: 24, max: 64 };

/** Returns the key of a secret; undefined if it is none of 24 to 64 bytes. */
export function keyOf(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? "", "base64");
  return key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : undefined;
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
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { ...headers, "webhook-signature": `v1,${digest}` };
}
