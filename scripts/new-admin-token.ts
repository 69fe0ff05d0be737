import { createHash, randomBytes } from "node:crypto";
import { SCOPES, type Scope } from "../src/platform/credentials.ts";

/** An entry of the secret ADMIN_TOKENS. */
export interface TokenEntry {
  readonly id: string;
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  readonly expires_at?: string;
}

export interface TokenOptions {
  readonly id: string | undefined;
  /** Separated by commas. */
  readonly scopes: string | undefined;
  /** A date, or a time with its offset. */
  readonly expires: string | undefined;
}

type NewToken =
  | { readonly ok: true; readonly text: string; readonly entry: TokenEntry }
  | { readonly ok: false; readonly problem: string };

const TOKEN_BYTES = 32;
const ID = /^[A-Za-z0-9._@-]{1,64}$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Makes a token and its entry, which has only its hash.
 *
 * @param now milliseconds since 1970.
 */
export function newAdminToken({ id, scopes, expires }: TokenOptions, now: number): NewToken {
  if (id === undefined) return refuse("--id is missing: a name that the audit will show");
  if (!ID.test(id)) return refuse(`--id must have 1 to 64 of A-Z a-z 0-9 . _ @ -, not "${id}"`);
  const names = (scopes ?? "read").split(",").map((name) => name.trim());
  const known = SCOPES.filter((scope) => names.includes(scope));
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined)
    return refuse(`--scopes must be of ${SCOPES.join(" and ")}, by comma, not "${unknown}"`);
  const until = expires === undefined ? undefined : parseExpiry(expires);
  if (Number.isNaN(until))
    return refuse(`--expires must be a date such as 2027-06-30, not "${expires}"`);
  if (until !== undefined && until <= now) return refuse(`--expires ${expires} is in the past`);
  const text = randomBytes(TOKEN_BYTES).toString("base64url");
  const sha256 = sha256Of(text);
  const entry: TokenEntry = {
    id,
    sha256,
    scopes: known,
    ...(until !== undefined && { expires_at: new Date(until).toISOString() }),
  };
  return { ok: true, text, entry };
}

/** Value of the secret ADMIN_TOKENS that accepts only one token, for everything. */
export function onlyToken(id: string, text: string): string {
  const entry: TokenEntry = { id, sha256: sha256Of(text), scopes: SCOPES };
  return JSON.stringify([entry]);
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Milliseconds since 1970, or NaN. A day that does not exist, such as 31 June, is no date. */
function parseExpiry(text: string): number {
  if (!DATE.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  const midnight = Date.parse(day);
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  return exists ? Date.parse(text) : Number.NaN;
}

function refuse(problem: string): NewToken {
  return { ok: false, problem };
}
