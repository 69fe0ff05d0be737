/** One evaluation of the alerts. The row in D1 and the OpenAPI document follow from this schema. */
import * as z from "zod";
import { count, type DeepReadonly, timestamp } from "./fields.ts";
import { HEALTH_STATUSES, RULE_NAMES, SEVERITIES, UNITS } from "./rule-names.ts";

export const ALERT_STATES = ["inactive", "pending", "firing", "nodata", "resolved"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** A change of an alert that a message reports. */
export const ALERT_CHANGES = ["fired", "nodata", "repeated", "resolved"] as const;
export type AlertChange = (typeof ALERT_CHANGES)[number];

const EVALUATION_TRIGGERS = ["cron", "manual"] as const;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const scalars = z.record(z.string(), scalar);

export const alertResultSchema = z
  .strictObject({
    rule: z.enum(RULE_NAMES),
    fingerprint: z.string().meta({ description: "The permanent name of the alert." }),
    labels: z.record(z.string(), z.string()),
    severity: z
      .enum(SEVERITIES)
      .meta({ description: "The status; of an alert that passes, the status that it had." }),
    status: z.enum(HEALTH_STATUSES).meta({
      description:
        "What the evaluation found, as `GET /admin/monitor/status` shows it. A firing alert that passes is recovering.",
    }),
    state: z.enum(ALERT_STATES),
    previous_state: z.enum(ALERT_STATES),
    since: timestamp.meta({ description: "When the alert entered this state." }),
    value: z.number().nullable().meta({ description: "Null if unknown." }),
    threshold: z.number(),
    unit: z.enum(UNITS),
    message: z.string(),
    evidence: z.record(z.string(), z.union([scalar, z.array(scalar), z.array(scalars)])),
    suppressed: z.boolean().meta({
      description: "It only warns and notifies nobody, because ingestion is paused.",
    }),
    notified: z.array(
      z.strictObject({ target: z.string(), change: z.enum(ALERT_CHANGES), delivered: z.boolean() }),
    ),
  })
  .meta({ id: "AlertResult", description: "The state of one alert at an evaluation." });

export const receiptSchema = z
  .strictObject({
    target: z.string(),
    delivered: z.boolean(),
    attempts: z.int().min(1),
    status: z
      .int()
      .nullable()
      .meta({ description: "Status of the last answer; null if there was none." }),
    error: z.string().nullable(),
    at: timestamp,
    duration_ms: count,
  })
  .meta({ id: "AlertReceipt", description: "The result of sending one message to a webhook." });

export const alertRunSchema = z
  .strictObject({
    id: z.uuid(),
    trigger: z.enum(EVALUATION_TRIGGERS),
    requested_by: z.string(),
    started_at: timestamp,
    finished_at: timestamp.nullable().meta({ description: "Null if it was interrupted." }),
    duration_ms: count.nullable(),
    worst: z.enum(HEALTH_STATUSES).meta({ description: "The most severe status of its findings." }),
    rules_total: count.meta({
      description: "Rules; one may have several alerts. Those without a result are inactive.",
    }),
    pending: count,
    firing: count,
    fired: count.meta({ description: "Alerts raised by this evaluation: they fire or lack data." }),
    resolved: count.meta({ description: "Raised alerts that ended." }),
    nodata: count,
    suppressed: count,
    notified: count.meta({ description: "Delivered messages." }),
    notify_failed: count.meta({
      description: "Messages that could not be delivered, or that a webhook wants later.",
    }),
    changed: z.boolean(),
    results: z.array(alertResultSchema).meta({
      description:
        "The alerts that are not inactive. `GET /admin/alerts` has the others of the last evaluation.",
    }),
    deliveries: z.array(receiptSchema),
    ping: z.enum(["sent", "failed", "not_configured"]).nullable(),
    worker_version: z.string().nullable(),
  })
  .meta({ id: "AlertRun", description: "One evaluation of all alert rules." });

export type AlertRun = DeepReadonly<z.output<typeof alertRunSchema>>;
/** Returns an evaluation without its inactive alerts, as the history and the API have it. */
export function withoutInactive(run: AlertRun): AlertRun {
  return { ...run, results: run.results.filter(({ state }) => state !== "inactive") };
}

export type AlertResult = AlertRun["results"][number];
/** Result of sending one message to a target, without URLs or secrets. */
export type Receipt = AlertRun["deliveries"][number];
export type PingOutcome = NonNullable<AlertRun["ping"]>;
export type AlertTrigger = AlertRun["trigger"];
