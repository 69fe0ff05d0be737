import { describe, expect, it } from "vitest";
import { checkAlerts, type MonitorStatusFacts } from "../../../src/health/alert-checks.ts";
import { anAlertResult, anAlertRun } from "../../builders/alert-run.ts";
import { DEFAULT_LIMITS } from "../../builders/facts.ts";

const HEALTHY: MonitorStatusFacts = {
  problem: null,
  lastRun: anAlertRun(),
  outboxLength: 0,
  targets: [{ name: "ops", failures: 0, lastError: null, lastDeliveredAt: null }],
};

const firing = anAlertRun({ worst: "fail", results: [anAlertResult({ state: "firing" })] });

describe("checkAlerts", () => {
  const now = Date.parse("2026-11-20T12:10:00.000Z");
  const check = (changes: Partial<MonitorStatusFacts>) =>
    checkAlerts({ ...HEALTHY, ...changes }, { now, limits: DEFAULT_LIMITS });

  it("pass while they are evaluated, nothing fires and webhooks take messages", () => {
    const statuses = Object.values(check({})).flatMap((list) => list.map(({ status }) => status));
    expect(new Set(statuses)).toEqual(new Set(["pass"]));
  });

  it("fail where the settings cannot be used", () => {
    expect(check({ problem: "ALERT_REPEAT_MS must be …" })).toEqual({
      "alerts:settings": [{ status: "fail", output: "ALERT_REPEAT_MS must be …" }],
    });
  });

  it.each([
    ["alerts:firing", { lastRun: firing }, "catalog_stale: The catalog"],
    ["alerts:evaluation", { lastRun: null }, "nothing was evaluated yet"],
    [
      "alerts:evaluation",
      { lastRun: anAlertRun({ started_at: "2026-11-20T11:55:00.000Z" }) },
      "overdue",
    ],
    ["alerts:webhooks", { targets: [] }, "nobody is notified"],
  ] as const)("warn in %s of %j", (name, changes, output) => {
    const [found] = check(changes)[name] ?? [];
    expect(found?.status).toBe("warn");
    expect(found?.output).toContain(output);
  });

  it("warn of a webhook that takes no message, by its name, from the alert's limit on", () => {
    const [target] = HEALTHY.targets;
    const failing = { lastError: "it answers 500", lastDeliveredAt: null };
    const webhooks = (failures: number) =>
      check({ targets: target === undefined ? [] : [{ ...target, ...failing, failures }] })[
        "alerts:webhooks"
      ];
    expect(webhooks(2)).toEqual([{ status: "pass", observedValue: "ops" }]);
    expect(webhooks(3)).toEqual([
      {
        status: "warn",
        observedValue: "ops",
        output: 'The webhook "ops" took no message at 3 evaluations: it answers 500',
      },
    ]);
  });
});
