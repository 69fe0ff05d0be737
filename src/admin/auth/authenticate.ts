import { Buffer } from "node:buffer";
import type { MiddlewareHandler } from "hono";
import { type Actor, type Http, type Problem, sendProblem } from "../http/http.ts";
import type { AdminToken, CredentialsResult } from "../../platform/credentials.ts";
import { logLine } from "../../platform/log.ts";
import { node } from "../../platform/node.ts";
import type { EpochMs } from "../../platform/units.ts";
import type { AccessResult } from "./access-jwt.ts";

export interface Authentication {
  readonly credentials: CredentialsResult;
  /** Verifies the JWT of Cloudflare Access. Called only if Access is configured. */
  readonly verifyAccess: (jwt: string) => Promise<AccessResult>;
  /** Counts a failure. False if the client has had too many; rejects if it cannot count. */
  readonly mayFailAgain: (client: string) => Promise<boolean>;
  readonly now: () => EpochMs;
}

/** The header of Cloudflare Access. Its cookie is not read: pages of other sites could use that. */
const ACCESS_HEADER = "cf-access-jwt-assertion";

const FAILURE_PERIOD_SECONDS = 60;

type Authenticated =
  | { readonly ok: true; readonly actor: Actor }
  | {
      readonly ok: false;
      readonly reason: string;
      /** The id of the token, if the presented one is known. */
      readonly token?: string;
      readonly problem: Problem;
    };

/**
 * Lets a request pass if it has a valid credential: a bearer token (RFC 6750), or else a JWT of
 * Cloudflare Access. This comes before the routes, so that nobody without a credential learns which
 * paths exist. If no credential is configured, every request is refused. If one is malformed, the
 * others still count.
 *
 * A client that keeps failing is answered 429, so that a broken client stops. A valid credential is
 * never counted or refused, so nobody behind the same address can lock an operator out. The length of
 * tokens (256 random bits) prevents guessing, not this limit: if the limit cannot be read, failures are
 * answered 401.
 */
export function authenticate(platform: Authentication): MiddlewareHandler<Http> {
  const { problem: error } = platform.credentials;
  if (error !== null)
    logLine("error", "admin_misconfigured", "malformed admin credentials let nobody in", { error });
  return async (c, next) => {
    const found = await findActor(platform, c.req.raw.headers);
    if (found.ok) {
      c.set("actor", found.actor);
      return next();
    }
    const { problem, reason, token } = found;
    const fields = { request_id: c.get("requestId"), reason, token, error_code: problem.code };
    logLine("warn", "admin_unauthenticated", "a request was refused", fields);
    if (problem.status === 401) {
      if (!(await mayFailAgain(platform, c.req.raw.headers)))
        return sendProblem(c, TOO_MANY, SLOWLY);
      return sendProblem(c, problem, { "www-authenticate": 'Bearer realm="admin"' });
    }
    return sendProblem(c, problem);
  };
}

async function findActor(
  { credentials: { credentials, problem }, verifyAccess, now }: Authentication,
  headers: Headers,
): Promise<Authenticated> {
  const { tokens, access } = credentials;
  const authorization = headers.get("authorization");
  const jwt = headers.get(ACCESS_HEADER);
  // The malformed credential may be this client's.
  const refuse = (reason: string): Authenticated =>
    problem === null
      ? { ok: false, reason, problem: UNAUTHENTICATED }
      : { ok: false, reason: "misconfigured", problem: MISCONFIGURED };
  if (authorization === null && jwt !== null && access !== null) {
    const verified = await verifyAccess(jwt);
    if (verified.ok) return verified;
    const reason = `jwt_${verified.reason}`;
    return verified.reason === "keys_unavailable"
      ? { ok: false, reason, problem: NO_KEYS }
      : refuse(reason);
  }
  const token = findToken(tokens, authorization ?? "", now());
  if (token !== undefined && hasExpired(token, now()))
    return { ok: false, reason: "expired_token", token: token.id, problem: EXPIRED };
  if (token !== undefined) return { ok: true, actor: token };
  if (tokens.length === 0 && access === null && problem === null)
    return { ok: false, reason: "unconfigured", problem: UNCONFIGURED };
  return refuse(authorization === null ? "no_credential" : "bad_token");
}

async function mayFailAgain(platform: Authentication, headers: Headers): Promise<boolean> {
  try {
    return await platform.mayFailAgain(clientKey(headers.get("cf-connecting-ip") ?? ""));
  } catch {
    logLine("warn", "rate_limit_unreadable", "failures are not being limited");
    return true;
  }
}

const UNAUTHENTICATED: Problem = {
  status: 401,
  code: "unauthenticated",
  detail: "Send a valid admin token as `Authorization: Bearer <token>`.",
};

const EXPIRED: Problem = {
  status: 401,
  code: "token_expired",
  detail: "This admin token has expired. `npm run token` makes another.",
};

const TOO_MANY: Problem = {
  status: 429,
  code: "too_many_failures",
  detail: "Too many requests without a valid credential. Check the token and try again later.",
};

const SLOWLY = { "retry-after": String(FAILURE_PERIOD_SECONDS) };

const UNCONFIGURED: Problem = {
  status: 503,
  code: "admin_unconfigured",
  detail:
    "No admin credential is configured. Set the secret ADMIN_TOKENS; `npm run token -- --help` explains how.",
};

const MISCONFIGURED: Problem = {
  status: 503,
  code: "admin_misconfigured",
  detail:
    "The admin credentials are malformed (ADMIN_TOKENS or ACCESS_*). The Worker's log says what is wrong.",
};

const NO_KEYS: Problem = {
  status: 503,
  code: "access_keys_unavailable",
  detail:
    "The keys of Cloudflare Access cannot be fetched. Try again later, or use an admin token.",
};

/**
 * The configured token that an Authorization header presents (RFC 6750); one that is valid before
 * one that has expired. Compares all digests, each in constant time. An empty text is never a token,
 * even if its hash is configured.
 */
export function findToken(
  tokens: readonly AdminToken[],
  authorization: string,
  now: EpochMs,
): AdminToken | undefined {
  const [, presented = ""] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
  if (presented === "") return undefined;
  const digest = node.crypto.createHash("sha256").update(presented).digest();
  const matches = tokens.filter((token) =>
    node.crypto.timingSafeEqual(digest, Buffer.from(token.sha256, "hex")),
  );
  return matches.find((token) => !hasExpired(token, now)) ?? matches[0];
}

function hasExpired({ expiresAt }: AdminToken, now: EpochMs): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * The key under which a client's failures are counted: the first 64 bits of its IPv6 address, since
 * one client has all addresses below them; else the address as written, also if it is an IPv4 address
 * mapped into IPv6.
 */
export function clientKey(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const before = head.split(":").filter((group) => group !== "");
  const after = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(.)/, "$1"))
    .join(":");
}
