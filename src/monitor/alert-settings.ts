import * as z from "zod";
import { Buffer } from "node:buffer";
import { describeIssues, parseJson } from "../platform/parse-json.ts";
import { DAY_MS, HOUR_MS } from "../platform/time.ts";

export const WEBHOOK_KINDS = ["alertmanager", "slack", "webhook"] as const;

/** A receiver of messages. `url` and `key` are never shown or logged. */
export interface WebhookTarget {
  readonly name: string;
  readonly kind: (typeof WEBHOOK_KINDS)[number];
  readonly url: string;
  /** Key of the signatures; null to send unsigned messages. */
  readonly key: Buffer | null;
}

export interface AlertConfig {
  readonly limits: Limits;
  /** Empty if nobody is notified. */
  readonly targets: readonly WebhookTarget[];
  /** Dead-man's switch: called after each evaluation, so that missing evaluations are noticed. */
  readonly pingUrl: string | null;
  /** Address of the alerts in the dashboard, to which messages lead; null without `SERVICE_URL`. */
  readonly dashboardUrl: string | null;
}

export const SECRET_ALERT_SETTINGS = ["ALERT_WEBHOOKS", "ALERT_PING_URL"] as const;

/** The names of the settings that are neither secrets nor limits. */
export const OTHER_ALERT_SETTINGS = ["SERVICE_URL"] as const;

export type AlertSettings = LimitSettings & {
  readonly [S in (typeof SECRET_ALERT_SETTINGS | typeof OTHER_ALERT_SETTINGS)[number]]?:
    string | undefined;
};

/**
 * Parses the settings. An invalid limit has its default, and an invalid webhook or ping address is left
 * out. `problems` names each without URLs or secrets.
 */
export function loadAlertConfig(settings: AlertSettings): {
  readonly config: AlertConfig;
  readonly problems: readonly string[];
} {
  const { limits, problems } = readLimits(settings);
  const { ALERT_WEBHOOKS: webhooks = "[]", ALERT_PING_URL: pingUrl = null } = settings;
  const { SERVICE_URL: serviceUrl = null } = settings;
  const { targets, problem } = readTargets(webhooks);
  const pingProblem = pingUrl === null ? null : urlProblem(pingUrl);
  const serviceProblem = serviceUrl === null ? null : urlProblem(serviceUrl);
  const hasAddress = serviceUrl !== null && serviceProblem === null;
  return {
    config: {
      limits,
      targets,
      pingUrl: pingProblem === null ? pingUrl : null,
      dashboardUrl: hasAddress ? new URL("/dashboard#alerts", serviceUrl).href : null,
    },
    problems: [
      ...problems,
      ...(problem === null ? [] : [`ALERT_WEBHOOKS ${problem}`]),
      ...(pingProblem === null ? [] : [`ALERT_PING_URL ${pingProblem}`]),
      ...(serviceProblem === null ? [] : [`SERVICE_URL ${serviceProblem}`]),
    ],
  };
}

const MAX_TARGETS = 10;
const ALERTMANAGER_PATH = "/api/v2/alerts";

const target = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9_-]{1,40}$/, "must be 1 to 40 of a-z, 0-9, _ and -, as in ops-chat"),
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
  })
  .superRefine(({ kind, url }, context) => {
    if (kind === "alertmanager" && !url.endsWith(ALERTMANAGER_PATH))
      context.addIssue(
        `url must end with ${ALERTMANAGER_PATH}: other receivers of this kind now have the kind "webhook"`,
      );
  })
  .transform(({ secret: key = null, ...rest }): WebhookTarget => ({ ...rest, key }));

const targetList = z
  .array(target)
  .max(MAX_TARGETS, `may name ${MAX_TARGETS} at most`)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    message: "must have names that differ",
  });

/** A secret of Standard Webhooks: `whsec_` and the key in base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const KEY_BYTES = { min: 24, max: 64 };

/** Returns the key of a secret; undefined if it is none of 24 to 64 bytes. */
export function signingKey(secret: string): Buffer | undefined {
  const key = Buffer.from(SECRET.exec(secret)?.[1] ?? "", "base64");
  return key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : undefined;
}

/**
 * Parses the targets. Of an invalid list, the valid targets count, so that they are notified of the
 * problem.
 */
function readTargets(text: string): {
  readonly targets: readonly WebhookTarget[];
  readonly problem: string | null;
} {
  const list = parseJson(text);
  const parsed = targetList.safeParse(list);
  if (parsed.success) return { targets: parsed.data, problem: null };
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  const right = items.flatMap((item) => target.safeParse(item).data ?? []);
  const byName = new Map(right.map((found) => [found.name, found]));
  return {
    targets: [...byName.values()].slice(0, MAX_TARGETS),
    problem: `must be a JSON list of {name, kind: "alertmanager" | "slack" | "webhook", url, secret?}: ${describeIssues(parsed.error)}`,
  };
}

/** Loopback hosts, which need no https. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Describes the problem of a URL as the end of a sentence; null if it is valid. */
function urlProblem(text: unknown): string | null {
  if (typeof text !== "string" || !URL.canParse(text)) return "is not a URL";
  const { protocol, username, password, hostname } = new URL(text);
  if (username !== "" || password !== "") return "must have no user name and no password";
  const isLoopback = protocol === "http:" && LOOPBACK_HOSTS.has(hostname);
  return protocol === "https:" || isLoopback ? null : "must begin with https://";
}

const MINUTE_MS = 60_000;

/** Longest time between two evaluations by cron. */
export const MONITOR_GAP_MS = 15 * MINUTE_MS;

/** The limits that an operator may set, each with its setting, default and range. */
const SETTINGS = {
  /** Time since the last comparison with upstream. */
  catalogStaleMs: ["ALERT_CATALOG_STALE_MS", 30 * HOUR_MS, 1_000, 90 * DAY_MS],
  /** Age of the data by its source's date. */
  dataOldMs: ["ALERT_DATA_OLD_MS", 730 * DAY_MS, DAY_MS, 3_650 * DAY_MS],
  ingestFailingRuns: ["ALERT_INGEST_FAILING_RUNS", 3, 1, 20],
  /** Time without progress of a run or of the replication to the stores. */
  ingestStuckMs: ["ALERT_INGEST_STUCK_MS", 10 * MINUTE_MS, MINUTE_MS, DAY_MS],
  ingestPausedMs: ["ALERT_INGEST_PAUSED_MS", DAY_MS, MINUTE_MS, 90 * DAY_MS],
  /** Time for which a marked change by upstream waits. */
  changesHeldMs: ["ALERT_CHANGES_HELD_MS", 2 * DAY_MS, MINUTE_MS, 90 * DAY_MS],
  backupStaleMs: ["ALERT_BACKUP_STALE_MS", 26 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  /** Time since the newest verified backup while a newer one is unverified. */
  backupUnverifiedMs: ["ALERT_BACKUP_UNVERIFIED_MS", 25 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  /** Interval at which an open alert is repeated. */
  repeatMs: ["ALERT_REPEAT_MS", 4 * HOUR_MS, MINUTE_MS, 7 * DAY_MS],
} as const satisfies {
  readonly [limit: string]: readonly [setting: string, value: number, min: number, max: number];
};

export type Limits = { readonly [L in keyof typeof SETTINGS]: number };

export type LimitSettings = {
  readonly [S in (typeof SETTINGS)[keyof Limits][0]]?: string | undefined;
};

export const LIMIT_SETTINGS = Object.values(SETTINGS).map(([name]) => name);

/** Parses the limits. An invalid setting is listed in `problems` and has its default. */
export function readLimits(settings: LimitSettings): {
  readonly limits: Limits;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const limits = Object.fromEntries(
    Object.entries(SETTINGS).map(([limit, [name, value, min, max]]) => {
      const text = settings[name];
      const number = text === undefined ? value : readNumber(text, min, max);
      if (number === undefined) problems.push(`${name} must be a whole number, ${min} to ${max}`);
      return [limit, number ?? value];
    }),
  ) as unknown as Limits; // SETTINGS has every key of Limits
  return { limits, problems };
}

function readNumber(text: unknown, min: number, max: number): number | undefined {
  const number = typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}
