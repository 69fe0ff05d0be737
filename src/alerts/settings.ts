import { z } from "zod";
import type { Thresholds } from "./thresholds.ts";
import { WEBHOOK_KINDS, type WebhookTarget } from "./webhook.ts";

/** Settings of the alerts, checked once and with units. */
export interface AlertConfig {
  readonly thresholds: Thresholds;
  /** Empty if nobody is to be notified. */
  readonly targets: readonly WebhookTarget[];
  /** What is asked for after each evaluation, so that somebody notices when none is made. */
  readonly pingUrl: string | null;
}

/** The settings, or what is wrong with them: never with a URL or a secret in it. */
export type AlertConfigResult =
  | { readonly ok: true; readonly config: AlertConfig }
  | { readonly ok: false; readonly problem: string };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Each threshold's setting, its value where there is none, and its range. */
const SETTINGS = {
  catalogStaleMs: ["ALERT_CATALOG_STALE_MS", 30 * HOUR_MS, 1_000, 90 * DAY_MS],
  ingestFailingRuns: ["ALERT_INGEST_FAILING_RUNS", 3, 1, 20],
  ingestStuckMs: ["ALERT_INGEST_STUCK_MS", 10 * MINUTE_MS, MINUTE_MS, DAY_MS],
  ingestPausedMs: ["ALERT_INGEST_PAUSED_MS", DAY_MS, MINUTE_MS, 90 * DAY_MS],
  queueBacklogRuns: ["ALERT_QUEUE_BACKLOG_RUNS", 5, 1, 10],
  outboxBacklogRows: ["ALERT_OUTBOX_BACKLOG_ROWS", 6, 1, 10_000],
  coverageDropPoints: ["ALERT_COVERAGE_DROP_POINTS", 5, 1, 100],
  backupStaleMs: ["ALERT_BACKUP_STALE_MS", 26 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  backupUnverifiedMs: ["ALERT_BACKUP_UNVERIFIED_MS", 25 * HOUR_MS, MINUTE_MS, 90 * DAY_MS],
  notifyFailingEvaluations: ["ALERT_NOTIFY_FAILING_EVALUATIONS", 3, 1, 100],
  monitorGapMs: ["ALERT_MONITOR_GAP_MS", 15 * MINUTE_MS, MINUTE_MS, 7 * DAY_MS],
  repeatMs: ["ALERT_REPEAT_MS", 4 * HOUR_MS, MINUTE_MS, 7 * DAY_MS],
} as const satisfies {
  readonly [T in keyof Thresholds]: readonly [
    setting: string,
    value: number,
    min: number,
    max: number,
  ];
};

type ThresholdSetting = (typeof SETTINGS)[keyof Thresholds][0];

/** The settings, as strings, that `loadAlertConfig` reads; one that is absent has its default. */
export type AlertSettings = {
  readonly [S in ThresholdSetting | "ALERT_WEBHOOKS" | "ALERT_PING_URL"]?: string | undefined;
};

/** Reads the settings. What is wrong with them closes the alerts, and nothing else. */
export function loadAlertConfig(settings: AlertSettings): AlertConfigResult {
  const problems: string[] = [];
  const thresholds = Object.fromEntries(
    Object.entries(SETTINGS).map(([threshold, [name, value, min, max]]) => {
      const text = settings[name];
      const number = text === undefined ? value : readNumber(text, min, max);
      if (number === undefined) problems.push(`${name} must be a whole number, ${min} to ${max}`);
      return [threshold, number ?? value];
    }),
  ) as unknown as Thresholds; // SETTINGS has each of its keys
  const targets = readTargets(settings.ALERT_WEBHOOKS ?? "[]");
  if (typeof targets === "string") problems.push(`ALERT_WEBHOOKS ${targets}`);
  const pingUrl = settings.ALERT_PING_URL ?? null;
  const pingProblem = pingUrl === null ? null : urlProblem(pingUrl);
  if (pingProblem !== null) problems.push(`ALERT_PING_URL ${pingProblem}`);
  if (problems.length > 0 || typeof targets === "string")
    return { ok: false, problem: problems.join("; ") };
  return { ok: true, config: { thresholds, targets, pingUrl } };
}

/** The age from which on a backup is stale; its default if the setting cannot be used. */
export function backupStaleMs(settings: AlertSettings): number {
  const [name, value, min, max] = SETTINGS.backupStaleMs;
  return readNumber(settings[name] ?? "", min, max) ?? value;
}

function readNumber(text: string, min: number, max: number): number | undefined {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
