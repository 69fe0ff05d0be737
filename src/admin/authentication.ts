import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { AdminToken, Scope } from "../config.ts";
import type { Http } from "./http.ts";
import { sendProblem } from "./problem.ts";

/**
 * Lets only requests with a known bearer token (RFC 6750) pass, before any route is looked up, so
 * that an unknown path tells a stranger nothing. With no token configured everything is refused.
 */
export function authenticate(
  tokens: readonly AdminToken[],
  now: () => number,
): MiddlewareHandler<Http> {
  return async (c, next) => {
    if (tokens.length === 0)
      return sendProblem(c, {
        status: 503,
        code: "no_tokens",
        detail: "No admin token is configured. Set the secret ADMIN_TOKENS.",
      });
    const token = findToken(tokens, c.req.header("authorization") ?? "", now());
    if (token === undefined) {
      c.header("www-authenticate", 'Bearer realm="admin"');
      return sendProblem(c, {
        status: 401,
        code: "unauthenticated",
        detail: "Send a valid admin token as `Authorization: Bearer <token>`.",
      });
    }
    c.set("actor", token);
    return next();
  };
}

/** Lets only actors with a scope pass. */
export function requireScope(scope: Scope): MiddlewareHandler<Http> {
  return async (c, next) => {
    if (c.get("actor").scopes.includes(scope)) return next();
    const detail = `This token lacks the scope "${scope}".`;
    return sendProblem(c, { status: 403, code: "scope_missing", detail });
  };
}

/** Compares digests, all of them, in constant time. The empty text is no token, whatever its hash. */
function findToken(
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
