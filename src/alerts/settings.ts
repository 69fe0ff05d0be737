import { Buffer } from "node:buffer";
import * as z from "zod";
import { type Limits, type LimitSettings, readLimits } from "../health/limits.ts";
import { parseJson } from "../parse-json.ts";

const WEBHOOK_KINDS = ["alertmanager", "slack"] as const;

/** A receiver of messages. `url` and `key` are never shown or logged. */
export interface WebhookTarget {
  readonly name: string;
  readonly kind: (typeof WEBHOOK_KINDS)[number];
  readonly url: string;
  /** Key of the signatures; null to send unsigned messages. */
  readonly key: Buffer | null;
}

/** Validated settings of the alerts. */
export interface AlertConfig {
  readonly limits: Limits;
  /** Empty to notify nobody. */
  readonly targets: readonly WebhookTarget[];
  /** Dead-man's switch: called after each evaluation, so that missing evaluations are noticed. */
  readonly pingUrl: string | null;
}

/** The settings, or their problem without URLs or secrets. */
export type AlertConfigResult =
  | { readonly ok: true; readonly config: AlertConfig }
  | { readonly ok: false; readonly problem: string };

/** The raw settings that `loadAlertConfig` reads. A missing one has its default. */
export type AlertSettings = LimitSettings & {
  readonly [S in "ALERT_WEBHOOKS" | "ALERT_PING_URL"]?: string | undefined;
};

/** Parses and validates the settings. A problem disables only the alerts. */
export function loadAlertConfig(settings: AlertSettings): AlertConfigResult {
  const { limits, problems: limitProblems } = readLimits(settings);
  const problems = [...limitProblems];
  const targets = readTargets(settings.ALERT_WEBHOOKS ?? "[]");
  if (typeof targets === "string") problems.push(`ALERT_WEBHOOKS ${targets}`);
  const pingUrl = settings.ALERT_PING_URL ?? null;
  const pingProblem = pingUrl === null ? null : urlProblem(pingUrl);
  if (pingProblem !== null) problems.push(`ALERT_PING_URL ${pingProblem}`);
  if (problems.length > 0 || typeof targets === "string")
    return { ok: false, problem: problems.join("; ") };
  return { ok: true, config: { limits, targets, pingUrl } };
}

const MAX_TARGETS = 10;

const targetList = z
  .array(
    z.strictObject({
      name: z
        .string()
        .regex(
          /^[a-z0-9][a-z0-9_-]{0,39}$/,
          "must be 1 to 40 of a-z, 0-9, _ and -, as in ops-chat",
        ),
      kind: z.enum(WEBHOOK_KINDS),
      url: z.string().superRefine((url, context) => {
        const problem = urlProblem(url);
        if (problem !== null) context.addIssue(problem);
      }),
      secret: z
        .string()
        .transform((text, context) => {
          const key = signingKey(text);
          if (key === undefined) context.addIssue('must be "whsec_" and 24 to 64 bytes in base64');
          return key ?? z.NEVER;
        })
        .optional(),
    }),
  )
  .max(MAX_TARGETS, `may name ${MAX_TARGETS} at most`)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    message: "must have names that differ",
  });

/** A secret of Standard Webhooks: `whsec_` and the key in base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
/** Lengths of a key. */
const KEY_BYTES = { min: 24, max: 64 };

/** Returns the key of a secret; undefined if it is none of 24 to 64 bytes. */
export function signingKey(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? "", "base64");
  return key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : undefined;
}

/** Parses the targets. Returns the problem as text. */
function readTargets(text: string): readonly WebhookTarget[] | string {
  const parsed = targetList.safeParse(parseJson(text));
  if (parsed.success)
    return parsed.data.map(({ secret: key = null, ...target }) => ({ ...target, key }));
  const where = parsed.error.issues.map(({ path, message }) =>
    [...path.map(String), message].join(" "),
  );
  return `must be a JSON list of {name, kind: "alertmanager" | "slack", url, secret?}: ${where.join("; ")}`;
}

/** Loopback hosts, which need no https. */
const OWN_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Describes the problem of a URL as the end of a sentence; null if it is valid. */
function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "is not a URL";
  const { protocol, username, password, hostname } = new URL(text);
  if (username !== "" || password !== "") return "must have no user name and no password";
  const isOwn = protocol === "http:" && OWN_HOSTS.has(hostname);
  return protocol === "https:" || isOwn ? null : "must begin with https://";
}
