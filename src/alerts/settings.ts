import { z } from "zod";
import { type Limits, type LimitSettings, readLimits } from "../health/limits.ts";
import { parseJson } from "../parse-json.ts";
import { WEBHOOK_KINDS, type WebhookTarget } from "./webhook.ts";

/** Settings of the alerts, checked once and with units. */
export interface AlertConfig {
  readonly limits: Limits;
  /** Empty if nobody is to be notified. */
  readonly targets: readonly WebhookTarget[];
  /** Called after each evaluation, so that somebody notices when none is made. */
  readonly pingUrl: string | null;
}

/** The settings, or what is wrong with them: never with a URL or a secret in it. */
export type AlertConfigResult =
  | { readonly ok: true; readonly config: AlertConfig }
  | { readonly ok: false; readonly problem: string };

/** The settings, as strings, that `loadAlertConfig` reads; one that is absent has its default. */
export type AlertSettings = LimitSettings & {
  readonly [S in "ALERT_WEBHOOKS" | "ALERT_PING_URL"]?: string | undefined;
};

/** Reads the settings. What is wrong with them closes the alerts, and nothing else. */
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
        .min(16, "must have 16 characters at least")
        .max(256, "must have 256 characters at most")
        .optional(),
    }),
  )
  .max(MAX_TARGETS, `may name ${MAX_TARGETS} at most`)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    message: "must have names that differ",
  });

/** The targets, or what is wrong with them. */
function readTargets(text: string): readonly WebhookTarget[] | string {
  const parsed = targetList.safeParse(parseJson(text));
  if (parsed.success)
    return parsed.data.map(({ secret = null, ...target }) => ({ ...target, secret }));
  const where = parsed.error.issues.map(({ path, message }) =>
    [...path.map(String), message].join(" "),
  );
  return `must be a JSON list of {name, kind: "alertmanager" | "slack", url, secret?}: ${where.join("; ")}`;
}

/** Hosts that are reached without leaving this machine, and so without https. */
const OWN_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** What is wrong with a URL, going on from its name; null if nothing is. */
function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "is not a URL";
  const { protocol, username, password, hostname } = new URL(text);
  if (username !== "" || password !== "") return "must have no user name and no password";
  const isOwn = protocol === "http:" && OWN_HOSTS.has(hostname);
  return protocol === "https:" || isOwn ? null : "must begin with https://";
}
