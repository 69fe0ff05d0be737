import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { AdminToken } from "./credentials.ts";

/**
 * The configured token that an Authorization header presents (RFC 6750). Compares all digests, each
 * in constant time. An empty text is never a token, even if its hash is configured.
 *
 * @param now milliseconds since 1970.
 */
export function findToken(
  tokens: readonly AdminToken[],
  authorization: string,
  now: number,
): AdminToken | undefined {
  const [, presented = ""] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
  if (presented === "") return undefined;
  const digest = createHash("sha256").update(presented).digest();
  const matches = tokens.filter((token) =>
    timingSafeEqual(digest, Buffer.from(token.sha256, "hex")),
  );
  return matches.find((token) => token.expiresAt === null || token.expiresAt > now);
}
