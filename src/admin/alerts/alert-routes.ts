import * as z from "zod";
import {
  ALERT_STATES,
  alertResultSchema,
  type AlertRun,
  alertRunSchema,
  receiptSchema,
  withoutInactive,
} from "../../schemas/alert-run.ts";
import { idOf, timestamp } from "../../schemas/fields.ts";
import { RULE_NAMES } from "../../schemas/rule-names.ts";
import { nullIfUnavailable, orUnavailable } from "../calls.ts";
import { healthStatus } from "../../schemas/health.ts";
import {
  BAD_CURSOR,
  noteField,
  outcome,
  pageFields,
  pageQuery,
  restOf,
  time,
} from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const runsQuery = z.strictObject({
  state: z.enum(ALERT_STATES).exclude(["inactive"]).optional().meta({
    description: "An alert was in this state; with `rule`, an alert of that rule.",
  }),
  worst: healthStatus.optional(),
  rule: z.enum(RULE_NAMES).optional().meta({ description: "The rule was not inactive." }),
  changed: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional()
    .meta({ description: "An alert changed its state, or a notification was due." }),
  since: time().optional().meta({ description: "Started at this time or later." }),
  until: time().optional().meta({ description: "Started before this time." }),
  ...pageQuery,
});

const runPage = z.strictObject({
  runs: z.array(alertRunSchema).meta({ description: "Newest first." }),
  ...pageFields,
  waiting: z.int().min(0).nullable().meta({
    description:
      "Evaluations that wait to be written to D1; null while the monitor does not answer.",
  }),
});

const runParams = z.object({ id: idOf("an evaluation", "/admin/alerts/runs") });

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

/** Lists alerts and evaluations, evaluates now, and tests the webhooks. */
export function alertRoutes({ alerts, alertHistory }: AdminPlatform) {
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

  const list = route({
    method: "get",
    path: "/admin/alerts/runs",
    operationId: "listAlertRuns",
    summary: "List alert run history",
    description: "Newest first, each with its results and deliveries.",
    access: "read",
    query: runsQuery,
    responses: { 200: { description: "A page of evaluations", body: runPage } },
    problems: { 503: "`history_unavailable`: D1 does not answer" },
  }).answer(async ({ query }) => {
    const { since: sinceMs, until: untilMs, ...others } = query;
    const [read, monitor] = await Promise.all([
      orUnavailable("history", alertHistory.listRuns({ ...others, sinceMs, untilMs })),
      nullIfUnavailable(alerts.status()),
    ]);
    if (!read.ok) return BAD_CURSOR;
    const waiting = monitor?.outboxLength ?? null;
    return { status: 200, body: { runs: read.runs, ...restOf(read), waiting } };
  });

  const one = route({
    method: "get",
    path: "/admin/alerts/runs/:id",
    operationId: "getAlertRun",
    summary: "One evaluation of the alerts",
    description: "The alerts that were not inactive, and the messages that it sent.",
    access: "read",
    params: runParams,
    responses: { 200: { description: "The evaluation", body: alertRunSchema } },
    problems: {
      404: "`run_not_found`",
      503: "`history_unavailable`: D1 does not answer, and it is not the last one",
    },
  }).answer(async ({ params: { id } }) => {
    const last = await nullIfUnavailable(alerts.status());
    if (last?.lastRun?.id === id) return { status: 200, body: withoutInactive(last.lastRun) };
    const found = await orUnavailable("history", alertHistory.findRun(id));
    return found === null ? NO_RUN : { status: 200, body: found };
  });

  const evaluate = route({
    method: "post",
    path: "/admin/alerts/run",
    operationId: "evaluateAlerts",
    summary: "Evaluate the alerts now",
    description: "Notifies of changes as the evaluation by cron does.",
    access: "operate",
    action: "alerts.run",
    body: z.strictObject({ note: noteField }),
    responses: {
      200: {
        description: "The evaluation",
        body: z.strictObject({ ...outcome, run: alertRunSchema }),
      },
    },
    problems: { 503: "`alerts_unavailable`" },
  }).answer(async ({ actor }) => {
    const asked = { trigger: "manual", requested_by: actor.id, tick: null } as const;
    const result = await alerts.evaluate(asked);
    if (!result.ok) throw new Error("an evaluation without a tick was refused as a repeated tick");
    const run = withoutInactive(result.run);
    const { id, changed, worst, firing, fired, resolved, nodata } = run;
    const change = { target: id, after: { changed, worst, firing, fired, resolved, nodata } };
    return { status: 200, body: { changed, run, message: evaluationMessage(run) }, change };
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
    if (result.ok) {
      const { receipts } = result;
      const delivered = receipts.filter((receipt) => receipt.delivered).length;
      const message = receipts.map(describeReceipt).join(" ");
      return {
        status: 200,
        body: { changed: false, receipts, message },
        change: { after: { messages: receipts.length, delivered } },
      };
    }
    return refuseTest(target, result.targets);
  });

  return [current, list, one, evaluate, test];
}

function evaluationMessage({ rules_total, firing, pending, nodata, notified }: AlertRun): string {
  return `${rules_total} rules evaluated. Alerts: ${firing} firing, ${pending} pending, ${nodata} without data. Notifications delivered: ${notified}.`;
}

function describeReceipt({ target, delivered, error }: z.output<typeof receiptSchema>): string {
  return delivered ? `${target}: delivered.` : `${target}: not delivered (${error ?? "unknown"}).`;
}

const NO_RUN: Refusal = {
  problem: { status: 404, code: "run_not_found", detail: "There is no evaluation with this id." },
};

function refuseTest(target: string | null, targets: readonly string[]): Refusal {
  if (target === null || targets.length === 0) {
    const detail = "No webhook is configured. Set the secret ALERT_WEBHOOKS.";
    return { problem: { status: 409, code: "no_targets", detail } };
  }
  const detail = `There is no webhook "${target}". The configured ones are ${targets.join(", ")}.`;
  return { problem: { status: 404, code: "target_not_found", detail } };
}
