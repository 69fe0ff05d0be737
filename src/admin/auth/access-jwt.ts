import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import { describeError, logLine } from "../../platform/log.ts";
import { HOUR_MS } from "../../platform/time.ts";
import type { Actor } from "../http/http.ts";
import type { AccessSettings } from "../../platform/credentials.ts";

export type AccessResult =
  | { readonly ok: true; readonly actor: Actor }
  /** `keys_unavailable`, `no_name`, or the code of jose's error, such as `ERR_JWT_EXPIRED`. */
  | { readonly ok: false; readonly reason: string };

/** How far the clocks of Access and of this Worker may differ. */
const CLOCK_SKEW_SECONDS = 60;
const MAX_JWT_LENGTH = 16_384;
/** After a fetch, an unknown key id does not cause another one for this time. */
const KEYS_COOLDOWN_MS = 30_000;
/** Keys of this age are fetched again before they are used: the team may have withdrawn one. */
const KEYS_MAX_AGE_MS = HOUR_MS;
const FETCH_DEADLINE_MS = 3_000;

/**
 * Verifies a JWT of Cloudflare Access: RS256 by a key of the team, `iss`, `aud`, `exp`, and `nbf` if
 * present. Everybody whom Access lets in may read; `settings.operators` may operate too.
 *
 * @see https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/
 */
export function accessVerifier(settings: AccessSettings): (jwt: string) => Promise<AccessResult> {
  const findKey = teamKeys(settings.issuer);
  return async (jwt) => {
    if (jwt.length > MAX_JWT_LENGTH) return { ok: false, reason: "too_long" };
    try {
      const { payload } = await jwtVerify(jwt, findKey, {
        algorithms: ["RS256"],
        issuer: settings.issuer,
        audience: settings.audience,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ["exp"],
      });
      const { email, common_name: clientId, sub, exp } = payload;
      const id = [email, clientId, sub].find(isNonEmpty)?.toLowerCase();
      if (id === undefined) return { ok: false, reason: "no_name" };
      // Only an e-mail address has an "@", so that no claim can pass for another.
      const isVouchedFor = isNonEmpty(email)
        ? id.includes("@")
        : isNonEmpty(clientId) && !id.includes("@");
      const mayOperate = isVouchedFor && settings.operators.includes(id);
      const scopes = mayOperate ? (["read", "operate"] as const) : (["read"] as const);
      return { ok: true, actor: { id, scopes, expiresAt: exp === undefined ? null : exp * 1000 } };
    } catch (error) {
      if (error instanceof KeysUnavailable) return { ok: false, reason: "keys_unavailable" };
      if (error instanceof errors.JOSEError) return { ok: false, reason: error.code };
      throw error;
    }
  };
}

function isNonEmpty(claim: unknown): claim is string {
  return typeof claim === "string" && claim !== "";
}

class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** Finds a key of the team, in a set that the isolate keeps. Rejects with KeysUnavailable or JOSEError. */
function teamKeys(issuer: string): JWTVerifyGetKey {
  const findKey = createRemoteJWKSet(new URL(`${issuer}/cdn-cgi/access/certs`), {
    timeoutDuration: FETCH_DEADLINE_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
  });
  return async (header, token) =>
    findKey(header, token).catch((cause: unknown) => {
      if (cause instanceof errors.JWKSNoMatchingKey) throw cause;
      if (cause instanceof errors.JWKSMultipleMatchingKeys) throw cause;
      const fields = describeError(cause);
      logLine("warn", "access_keys_unreadable", "the keys of Access cannot be read", fields);
      throw new KeysUnavailable("the keys of Access cannot be read", { cause });
    });
}
