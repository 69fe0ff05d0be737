import { z } from "zod";
import { RUN_TRIGGERS } from "../../alerts/alert-run.ts";
import { ALERT_STATES } from "../../alerts/alert-state.ts";
import { CHANGES } from "../../alerts/deliveries.ts";
import { SEVERITIES } from "../../health/rule.ts";
import { RULE_NAMES } from "../../health/rules.ts";
import { healthStatus } from "../health/health-schema.ts";
import { count, timestamp } from "../../catalog/fields.ts";

const resultSchema = z
  .strictObject({
    rule: z.enum(RULE_NAMES),
    fingerprint: z.string().meta({ description: "The permanent name of the alert." }),
    labels: z.record(z.string(), z.string()),
    severity: z.enum(SEVERITIES),
    state: z.enum(ALERT_STATES),
    previous_state: z.enum(ALERT_STATES),
    since: timestamp.meta({ description: "When the alert entered this state." }),
    value: z.number().nullable().meta({ description: "Null if unknown." }),
    threshold: z.number(),
    unit: z.string(),
    message: z.string(),
    evidence: z.record(z.string(), z.unknown()),
    suppressed: z.boolean().meta({ description: "Not notified, because ingestion is paused." }),
    notified: z.array(
      z.strictObject({ target: z.string(), change: z.enum(CHANGES), delivered: z.boolean() }),
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
    trigger: z.enum(RUN_TRIGGERS),
    requested_by: z.string(),
    started_at: timestamp,
    finished_at: timestamp.nullable().meta({ description: "Null if it was interrupted." }),
    duration_ms: count.nullable(),
    worst: healthStatus,
    rules_total: count,
    pending: count,
    firing: count,
    fired: count.meta({ description: "Alerts raised by this evaluation: they fire or lack data." }),
    resolved: count.meta({ description: "Raised alerts that ended." }),
    nodata: count,
    suppressed: count,
    notified: count.meta({ description: "Delivered messages." }),
    notify_failed: count.meta({ description: "Messages that could not be delivered." }),
    changed: z.boolean(),
    results: z.array(resultSchema),
    deliveries: z.array(receiptSchema),
    ping: z.enum(["sent", "failed", "not_configured"]).nullable(),
    worker_version: z.string().nullable(),
  })
  .meta({ id: "AlertRun", description: "One evaluation of all alert rules." });
