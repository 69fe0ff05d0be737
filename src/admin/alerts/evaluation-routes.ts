import * as z from "zod";
import {
  ALERT_STATES,
  type AlertRun,
  alertRunSchema,
  withoutInactive,
} from "../../schemas/alert-run.ts";
import { idOf } from "../../schemas/fields.ts";
import { RULE_NAMES } from "../../schemas/rule-names.ts";
import { nullIfUnavailable, orUnavailable } from "../calls.ts";
import { healthStatus } from "../../schemas/check.ts";
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

export function alertRunRoutes({ alerts, alertHistory }: AdminPlatform) {
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
    const request = { trigger: "manual", requested_by: actor.id, tick: null } as const;
    const result = await alerts.evaluate(request);
    if (!result.ok) throw new Error("an evaluation without a tick was refused as a repeated tick");
    const run = withoutInactive(result.run);
    const { id, changed, worst, firing, fired, resolved, nodata } = run;
    const change = { target: id, after: { changed, worst, firing, fired, resolved, nodata } };
    return { status: 200, body: { changed, run, message: evaluationMessage(run) }, change };
  });

  return [list, one, evaluate];
}

function evaluationMessage({ rules_total, firing, pending, nodata, notified }: AlertRun): string {
  return `${rules_total} rules evaluated. Alerts: ${firing} firing, ${pending} pending, ${nodata} without data. Notifications delivered: ${notified}.`;
}

const NO_RUN: Refusal = {
  problem: { status: 404, code: "run_not_found", detail: "There is no evaluation with this id." },
};
