import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

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
