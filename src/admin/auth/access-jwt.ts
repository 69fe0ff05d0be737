import { errors, jwtVerify } from "jose";
import { type AccessKeys, KeysUnavailable } from "./access-keys.ts";
import type { AccessSettings } from "./credentials.ts";
import type { Actor } from "../http/http.ts";

export type AccessResult =
  | { readonly ok: true; readonly actor: Actor }
  | {
      readonly ok: false;
      readonly reason: "malformed" | "expired" | "refused" | "unknown_key" | "keys_unavailable";
    };

/** How far the clocks of Access and of this Worker may differ. */
const CLOCK_SKEW_SECONDS = 60;
/** Longer ones are not parsed. */
const MAX_JWT_LENGTH = 16_384;

/**
 * Verifies a JWT of Cloudflare Access: RS256 by a key of the team (`kid`), `iss`, `aud`, `exp`, and
 * `nbf` where it is there. Whoever Access lets in may read; `settings.operators` may operate too.
 *
 * @see https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/
 */
export function accessVerifier(
  settings: AccessSettings,
  keys: AccessKeys,
  now: () => number,
): (jwt: string) => Promise<AccessResult> {
  return async (jwt) => {
    if (jwt.length > MAX_JWT_LENGTH) return { ok: false, reason: "malformed" };
    try {
      const { payload } = await jwtVerify(jwt, (header) => keys.find(header), {
        algorithms: ["RS256"],
        issuer: settings.issuer,
        audience: settings.audience,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ["exp"],
        currentDate: new Date(now()),
      });
      const id = [payload["email"], payload["common_name"], payload.sub].find(isName);
      if (id === undefined) return { ok: false, reason: "refused" };
      const mayOperate = settings.operators.includes(id.toLowerCase());
      return { ok: true, actor: { id, scopes: mayOperate ? ["read", "operate"] : ["read"] } };
    } catch (error) {
      return { ok: false, reason: reasonOf(error) };
    }
  };
}

function isName(claim: unknown): claim is string {
  return typeof claim === "string" && claim !== "";
}

function reasonOf(error: unknown): Extract<AccessResult, { ok: false }>["reason"] {
  if (error instanceof KeysUnavailable) return "keys_unavailable";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return "malformed";
  if (error instanceof errors.JOSEError) return "refused";
  throw error;
}
