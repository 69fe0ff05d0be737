import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { AdminToken } from "../../credentials.ts";

/** A configured token that a request presents. */
interface Presented {
  readonly token: AdminToken;
  readonly isExpired: boolean;
}

/**
 * The configured token that an Authorization header presents (RFC 6750); one that is valid before
 * one that has expired. Compares all digests, each in constant time. An empty text is never a token,
 * even if its hash is configured.
 *
 * @param now milliseconds since 1970.
 */
export function findToken(
  tokens: readonly AdminToken[],
  authorization: string,
  now: number,
): Presented | undefined {
  const [, presented = ""] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
  if (presented === "") return undefined;
  const digest = createHash("sha256").update(presented).digest();
  const matches = tokens.filter((token) =>
    timingSafeEqual(digest, Buffer.from(token.sha256, "hex")),
  );
  const isValid = ({ expiresAt }: AdminToken) => expiresAt === null || expiresAt > now;
  const token = matches.find(isValid) ?? matches[0];
  return token && { token, isExpired: !isValid(token) };
}
