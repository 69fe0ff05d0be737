import { timeText } from "../storage/time-text.ts";
import { describeDuration } from "./durations.ts";
import { measured, type Rule } from "./rule.ts";

/** A webhook does not take what it is sent. */
export const notifyFailing: Rule = {
  name: "notify_failing",
  severity: "warn",
  forMs: 0,
  evaluate: ({ monitor }, { thresholds }) =>
    monitor.targets.map(({ name, failures, lastError }) =>
      measured({
        labels: { target: name },
        value: failures,
        threshold: thresholds.notifyFailingEvaluations,
        unit: "evaluations",
        message:
          failures === 0
            ? `The webhook "${name}" takes messages.`
            : `The webhook "${name}" took no message at ${failures} evaluations: ${lastError ?? "no reason"}`,
        evidence: { last_error: lastError },
      }),
    ),
};

/** The evaluation itself did not take place for a while. */
export const monitorGap: Rule = {
  name: "monitor_gap",
  severity: "warn",
  forMs: 0,
  evaluate: ({ monitor }, { now, thresholds }) => {
    const { lastTickAt, since } = monitor;
    const value = Math.max(0, now - (lastTickAt ?? since));
    return [
      measured({
        value,
        threshold: thresholds.monitorGapMs,
        unit: "ms",
        message: `The tick before was ${describeDuration(value)} ago.`,
        evidence: { last_tick_at: lastTickAt === null ? null : timeText(lastTickAt) },
      }),
    ];
  },
};
