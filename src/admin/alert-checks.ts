import { needsAttention } from "../alerts/alert-state.ts";
import type { MonitorStatus } from "../alerts/monitor.ts";
import type { AlertUseCases } from "./alert-calls.ts";
import type { Check, Checks } from "./health.ts";
import type { MonitorCheck } from "./monitor-routes.ts";

const DEADLINE_MS = 2_000;
/** Three ticks: the last evaluation is overdue. */
const OVERDUE_AFTER_MS = 15 * 60_000;

/** The alerts: their settings, the last evaluation, what fires, the webhooks, and what waits for D1. */
export function alertsCheck(alerts: AlertUseCases, now: () => number): MonitorCheck {
  return {
    name: "alerts",
    deadlineMs: DEADLINE_MS,
    read: async () => checkAlerts(await alerts.status(), now()),
  };
}

/** What the monitor says of itself. An alert that fires is a warning here: its own check fails. */
export function checkAlerts(status: MonitorStatus, now: number): Checks {
  const { problem, lastRun } = status;
  if (problem !== null) return { "alerts:settings": [{ status: "fail", output: problem }] };
  const raised = (lastRun?.results ?? []).filter(({ state }) => needsAttention(state));
  return {
    "alerts:settings": [{ status: "pass" }],
    "alerts:evaluation": [checkEvaluation(lastRun, now)],
    "alerts:firing": [
      {
        status: raised.length === 0 ? "pass" : "warn",
        observedValue: raised.length,
        observedUnit: "alerts",
        ...(raised.length > 0 && {
          output: raised.map(({ rule, message }) => `${rule}: ${message}`).join("; "),
        }),
      },
    ],
    "alerts:webhooks": checkWebhooks(status.targets),
    "alerts:outbox": [{ status: "pass", observedValue: status.outboxLength, observedUnit: "rows" }],
  };
}

function checkEvaluation(lastRun: MonitorStatus["lastRun"], now: number): Check {
  if (lastRun === null)
    return { status: "warn", observedValue: null, output: "nothing was evaluated yet" };
  const { startedAt: time, worst } = lastRun;
  const isOverdue = now - Date.parse(time) >= OVERDUE_AFTER_MS;
  return {
    status: isOverdue ? "warn" : "pass",
    observedValue: worst,
    time,
    ...(isOverdue && { output: "the last evaluation is overdue; look at the cron triggers" }),
  };
}

function checkWebhooks(targets: MonitorStatus["targets"]): readonly Check[] {
  if (targets.length === 0)
    return [{ status: "warn", observedValue: 0, output: "none is configured: nobody is notified" }];
  return targets.map(({ name, failures, lastError, lastDeliveredAt }): Check => {
    const time = lastDeliveredAt === null ? {} : { time: lastDeliveredAt };
    if (failures === 0) return { status: "pass", observedValue: name, ...time };
    const output = `${name} took no message at ${failures} evaluations: ${lastError}`;
    return { status: "warn", observedValue: name, ...time, output };
  });
}
