import { createHmac } from "node:crypto";

/**
 * Signs a body for `Webhook-Signature`: `t=<seconds since 1970>,v1=<hex>`. `v1` is the HMAC-SHA256
 * of `<t>.<body>` with the target's secret.
 */
export function signatureOf(body: string, secret: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const digest = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}
