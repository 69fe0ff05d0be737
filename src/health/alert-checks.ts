/** Health checks of the alert monitor. Pure. */
import type { TargetFacts } from "./facts.ts";
import { judgeOutbox } from "./ingest-rules.ts";
import { judgeTarget } from "./monitor-rules.ts";
import type { RuleContext } from "./rule.ts";
import { type Check, type Checks, judged } from "./status.ts";

/** Status of the monitor. Times are RFC 3339. */
export interface MonitorStatusFacts {
  /** Problem of the settings; null if they are valid. */
  readonly problem: string | null;
  readonly lastRun: {
    readonly started_at: string;
    readonly worst: string;
    readonly results: readonly {
      readonly rule: string;
      readonly state: string;
      readonly message: string;
    }[];
  } | null;
  /** Rows waiting for D1. */
  readonly outboxLength: number;
  readonly targets: readonly (TargetFacts & { readonly lastDeliveredAt: string | null })[];
}

/** Checks the settings, the last evaluation, open alerts, webhooks and rows waiting for D1. */
export function checkAlerts(status: MonitorStatusFacts, context: RuleContext): Checks {
  const { problem, lastRun, targets, outboxLength } = status;
  if (problem !== null) return { "alerts:settings": [{ status: "fail", output: problem }] };
  const outbox = { ok: true, value: { alert_rows: outboxLength } } as const;
  return {
    "alerts:settings": [{ status: "pass" }],
    "alerts:evaluation": [checkEvaluation(lastRun, context)],
    "alerts:firing": [checkRaised(lastRun)],
    "alerts:webhooks": checkWebhooks(targets, context),
    "alerts:outbox": [
      {
        ...judged(judgeOutbox(outbox, context)),
        observedValue: outboxLength,
        observedUnit: "rows",
      },
    ],
  };
}

/** A firing alert only warns here, because the alert's own check has its severity. */
function checkRaised(lastRun: MonitorStatusFacts["lastRun"]): Check {
  const raised = (lastRun?.results ?? []).filter(({ state }) => needsAttention(state));
  const count = { observedValue: raised.length, observedUnit: "alerts" };
  if (raised.length === 0) return { status: "pass", ...count };
  const output = raised.map(({ rule, message }) => `${rule}: ${message}`).join("; ");
  return { status: "warn", ...count, output };
}

/** Whether somebody should look: the alert fires, or its input is unreadable. */
export function needsAttention(state: string): boolean {
  return state === "firing" || state === "nodata";
}

function checkEvaluation(lastRun: MonitorStatusFacts["lastRun"], context: RuleContext): Check {
  if (lastRun === null)
    return { status: "warn", observedValue: null, output: "nothing was evaluated yet" };
  const { started_at: time, worst } = lastRun;
  const isOverdue = context.now - Date.parse(time) >= context.limits.monitorGapMs;
  return {
    status: isOverdue ? "warn" : "pass",
    observedValue: worst,
    time,
    ...(isOverdue && { output: "the last evaluation is overdue; look at the cron triggers" }),
  };
}

/** Checks the webhooks. Warns if there is none. */
export function checkWebhooks(
  targets: MonitorStatusFacts["targets"],
  context: RuleContext,
): readonly Check[] {
  if (targets.length === 0)
    return [{ status: "warn", observedValue: 0, output: "none is configured: nobody is notified" }];
  return targets.map(({ lastDeliveredAt, ...target }) => ({
    ...judged(judgeTarget(target, context)),
    observedValue: target.name,
    ...(lastDeliveredAt !== null && { time: lastDeliveredAt }),
  }));
}
