import { createHmac } from "node:crypto";

/**
 * The value of `Webhook-Signature`: `t=<seconds since 1970>,v1=<hex>`, where `v1` is the
 * HMAC-SHA256, under the target's secret, of `<t>.<body>`.
 */
export function signatureOf(body: string, secret: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const digest = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}
