import * as z from "zod";
import { ALERT_STATES, alertResultSchema, receiptSchema } from "../../schemas/alert-run.ts";
import { timestamp } from "../../schemas/fields.ts";
import { noteField, outcome } from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const alertsQuery = z.strictObject({
  state: z.enum(ALERT_STATES).optional().meta({ description: "All but `inactive` by default." }),
});

const alertsAnswer = z
  .strictObject({
    evaluated_at: timestamp.nullable().meta({ description: "Null before the first evaluation." }),
    run_id: z.uuid().nullable().meta({ description: "The evaluation that found them." }),
    alerts: z.array(alertResultSchema),
  })
  .meta({ id: "Alerts", description: "Alerts of the last evaluation." });

export function alertRoutes({ alerts }: AdminPlatform) {
  const current = route({
    method: "get",
    path: "/admin/alerts",
    operationId: "listAlerts",
    summary: "List the alerts of the last evaluation that are not inactive",
    description: "With `state`, those in this state. Nothing is evaluated for the answer.",
    access: "read",
    query: alertsQuery,
    responses: { 200: { description: "The alerts", body: alertsAnswer } },
    problems: { 503: "`alerts_unavailable`: the monitor does not answer" },
  }).answer(async ({ query }) => {
    const { lastRun } = await alerts.status();
    const wanted = (lastRun?.results ?? []).filter(({ state }) =>
      query.state === undefined ? state !== "inactive" : state === query.state,
    );
    const evaluated_at = lastRun?.started_at ?? null;
    return { status: 200, body: { evaluated_at, run_id: lastRun?.id ?? null, alerts: wanted } };
  });

  const test = route({
    method: "post",
    path: "/admin/alerts/test",
    operationId: "testWebhooks",
    summary: "Send a test notification",
    description:
      "An alert and its end, to all webhooks; in Alertmanager it ends after five minutes. A failed delivery is reported in its receipt, not as an error.",
    access: "operate",
    action: "alerts.test",
    body: z.strictObject({ note: noteField }),
    responses: {
      200: {
        description: "The receipt of the last message to each webhook",
        body: z.strictObject({ ...outcome, receipts: z.array(receiptSchema) }),
      },
    },
    problems: {
      409: "`no_targets`: no webhook is configured",
      503: "`alerts_unavailable`",
    },
  }).answer(async ({ actor }) => {
    const receipts = await alerts.test(actor.id);
    if (receipts.length === 0) return NO_TARGETS;
    const delivered = receipts.filter((receipt) => receipt.delivered).length;
    const message = receipts.map(describeReceipt).join(" ");
    return {
      status: 200,
      body: { changed: delivered > 0, receipts, message },
      change: { after: { messages: receipts.length, delivered } },
    };
  });

  return [current, test];
}

function describeReceipt({ target, delivered, error }: z.output<typeof receiptSchema>): string {
  return delivered ? `${target}: delivered.` : `${target}: not delivered (${error ?? "unknown"}).`;
}

const NO_TARGETS: Refusal = {
  problem: {
    status: 409,
    code: "no_targets",
    detail: "No webhook is configured. Set the secret ALERT_WEBHOOKS.",
  },
};
