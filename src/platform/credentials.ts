import * as z from "zod";
import { describeIssues, parseJson } from "./parse-json.ts";
import type { EpochMs, Sha256Hex } from "./units.ts";

/** A permission of a credential: to look, or to change something. */
export const SCOPES = ["read", "operate"] as const;
export type Scope = (typeof SCOPES)[number];

/** A bearer token by the hash of its text. */
export interface AdminToken {
  readonly id: string;
  readonly sha256: Sha256Hex;
  readonly scopes: readonly Scope[];
  /** Null if it does not expire. */
  readonly expiresAt: EpochMs | null;
}

/** The Cloudflare Access application in front of the admin routes. */
export interface AccessSettings {
  /** `https://<team>.cloudflareaccess.com`. */
  readonly issuer: string;
  /** Its Application Audience (AUD) tag. */
  readonly audience: string;
  /** The e-mail addresses and client ids of service tokens that may operate; all others may read. */
  readonly operators: readonly string[];
}

interface Credentials {
  readonly tokens: readonly AdminToken[];
  /** Null if Access is not used. */
  readonly access: AccessSettings | null;
}

/** The valid credentials of the settings. */
export interface CredentialsResult {
  readonly credentials: Credentials;
  /** Names every wrong setting, without its value; null if all are valid. */
  readonly problem: string | null;
}

/** The settings of Cloudflare Access in front of /admin. Without them, only ADMIN_TOKENS count. */
export const ACCESS_SETTINGS = ["ACCESS_TEAM_DOMAIN", "ACCESS_AUD", "ACCESS_OPERATORS"] as const;

export type CredentialSettings = {
  readonly [S in "ADMIN_TOKENS" | (typeof ACCESS_SETTINGS)[number]]?: string | undefined;
};

const tokenList = z.array(
  z.strictObject({
    id: z.string().min(1).max(320), // as far as the audit can be searched
    sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits"),
    scopes: z.array(z.enum(SCOPES)).min(1),
    expires_at: z.iso.datetime().optional(),
  }),
);

const TEAM_DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

const tokensSchema = z.object({ ADMIN_TOKENS: z.string().default("[]").transform(parseTokens) });

const accessSchema = z
  .object({
    ACCESS_TEAM_DOMAIN: z
      .string()
      .default("")
      .refine(
        (text) => text === "" || TEAM_DOMAIN.test(text),
        'must be a host name such as "team.cloudflareaccess.com"',
      ),
    ACCESS_AUD: z.string().default(""),
    ACCESS_OPERATORS: z.string().default(""),
  })
  .refine((settings) => (settings.ACCESS_TEAM_DOMAIN === "") === (settings.ACCESS_AUD === ""), {
    path: ["ACCESS_AUD"],
    message: "and ACCESS_TEAM_DOMAIN must both be set, or neither",
  });

/** Reads the credentials. Invalid ones let nobody in; the valid ones still count. */
export function readCredentials(settings: CredentialSettings): CredentialsResult {
  const tokens = tokensSchema.safeParse(settings);
  const access = accessSchema.safeParse(settings);
  const problems = [tokens, access].flatMap(({ error }) => (error ? describeIssues(error) : []));
  return {
    credentials: {
      tokens: tokens.data?.ADMIN_TOKENS ?? [],
      access: access.success ? accessOf(access.data) : null,
    },
    problem: problems.length > 0 ? problems.join("; ") : null,
  };
}

function accessOf(settings: z.output<typeof accessSchema>): AccessSettings | null {
  const { ACCESS_TEAM_DOMAIN, ACCESS_AUD, ACCESS_OPERATORS } = settings;
  if (ACCESS_TEAM_DOMAIN === "") return null;
  return {
    issuer: `https://${ACCESS_TEAM_DOMAIN}`,
    audience: ACCESS_AUD,
    operators: ACCESS_OPERATORS.split(",")
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ""),
  };
}

function parseTokens(text: string, context: z.RefinementCtx): AdminToken[] {
  const parsed = tokenList.safeParse(parseJson(text));
  if (parsed.success)
    return parsed.data.map(({ expires_at, ...token }) => ({
      ...token,
      expiresAt: expires_at === undefined ? null : Date.parse(expires_at),
    }));
  context.addIssue(
    `must be a JSON list of {id, sha256, scopes, expires_at?}: ${describeIssues(parsed.error)}`,
  );
  return z.NEVER;
}
