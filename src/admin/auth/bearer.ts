import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { AdminToken } from "./credentials.ts";

/**
 * The token that an Authorization header presents (RFC 6750), if it is a configured one. Compares
 * digests, all of them, in constant time. The empty text is no token, whatever its hash.
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
