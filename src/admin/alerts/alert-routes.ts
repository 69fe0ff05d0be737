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

const testBody = z.strictObject({
  note: noteField,
  target: z.string().max(40).optional().meta({
    description: "The name of one webhook; all webhooks if it is left out.",
  }),
});

/** Lists the alerts of the last evaluation, and tests the webhooks. */
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
      "To all webhooks or to one. A failed delivery is reported in its receipt, not as an error.",
    access: "operate",
    action: "alerts.test",
    body: testBody,
    responses: {
      200: {
        description: "A receipt for each message",
        body: z.strictObject({ ...outcome, receipts: z.array(receiptSchema) }),
      },
    },
    problems: {
      404: "`target_not_found`",
      409: "`no_targets`: no webhook is configured",
      503: "`alerts_unavailable`",
    },
  }).answer(async ({ body: { target = null }, actor }) => {
    const result = await alerts.test(target, actor.id);
    if (!result.ok) return refuseTest(target, result.targets);
    const { receipts } = result;
    const delivered = receipts.filter((receipt) => receipt.delivered).length;
    const message = receipts.map(describeReceipt).join(" ");
    return {
      status: 200,
      body: { changed: false, receipts, message },
      change: { after: { messages: receipts.length, delivered } },
    };
  });

  return [current, test];
}

function describeReceipt({ target, delivered, error }: z.output<typeof receiptSchema>): string {
  return delivered ? `${target}: delivered.` : `${target}: not delivered (${error ?? "unknown"}).`;
}

function refuseTest(target: string | null, targets: readonly string[]): Refusal {
  if (target === null || targets.length === 0) {
    const detail = "No webhook is configured. Set the secret ALERT_WEBHOOKS.";
    return { problem: { status: 409, code: "no_targets", detail } };
  }
  const detail = `There is no webhook "${target}". The configured ones are ${targets.join(", ")}.`;
  return { problem: { status: 404, code: "target_not_found", detail } };
}
