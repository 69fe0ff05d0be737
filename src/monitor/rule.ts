import { formatDuration } from "../platform/durations.ts";
import { DAY_MS, durationOf, isFuture, type Time } from "../platform/time.ts";
import type { DurationMs, EpochMs } from "../platform/units.ts";
import type { Facts, Reading } from "./facts.ts";
import type { Limits } from "./alert-settings.ts";
import type { Severity, Unit } from "../schemas/rule-names.ts";

/** Verdict of a rule; `nodata` if its input is unreadable. */
export type FindingVerdict = "good" | "bad" | "nodata";

type Scalar = string | number | boolean | null;

type Evidence = {
  readonly [name: string]:
    Scalar | readonly Scalar[] | readonly { readonly [name: string]: Scalar }[];
};

export interface Finding {
  /** Null if the input is unreadable, or if there is nothing to measure; the latter counts as bad. */
  readonly value: number | null;
  /** One sentence for people. */
  readonly message: string;
  readonly evidence?: Evidence;
  readonly verdict?: "nodata";
  /** Identifies the subject; absent if the rule has only one. */
  readonly labels?: { readonly [name: string]: string };
  /** Only if they differ from the rule's. */
  readonly threshold?: number;
  readonly unit?: Unit;
  /** Whether the current pause excuses the finding: it only warns, and nobody is notified. */
  readonly suppressed?: boolean;
}

export interface RuleContext {
  readonly now: EpochMs;
  readonly limits: Limits;
}

export interface AlertRule {
  /** Status of its bad findings. */
  readonly severity: Severity;
  readonly unit: Unit;
  /** A finding is bad from this value upwards, or from that of a setting. */
  readonly limit: number | keyof Limits;
  /** Time that the condition must last before the alert fires; 0 by default. */
  readonly forMs?: DurationMs;
  /** Value from which the status warns, although the finding is still good. */
  readonly warnsFrom?: number;
  readonly evaluate: (facts: Facts, context: RuleContext) => Finding | readonly Finding[];
}

/** Measures an input. Returns `nodata` if the input is unreadable. */
export function evaluateInput<T>(input: Reading<T>, measure: (value: T) => Finding): Finding {
  return input.ok ? measure(input.value) : unknown(input.why);
}

/**
 * Measures the time that has passed since an earlier time. A publication may be dated in the future.
 * Its age is then unknown, which counts as bad.
 *
 * @param describe makes the message; the age is such as `1 d 6 h`.
 */
export function measureAge(
  since: Time,
  now: EpochMs,
  describe: (age: string) => string,
): Pick<Finding, "value" | "message"> {
  const value = durationOf(since, now);
  if (!isFuture(since, now)) return { value, message: describe(formatDuration(value)) };
  const unknownAge = describe("an unknown time");
  return {
    value: null,
    message: `${unknownAge} The recorded time is in the future: a clock was wrong.`,
  };
}

export function unknown(why: string): Finding {
  return { value: null, message: `Unknown: ${why}.`, evidence: { why }, verdict: "nodata" };
}

const AGE_UNITS = [
  [365, "year"],
  [365 / 12, "month"],
] as const;

/** Formats the age of data in whole years, months or days, such as `19 months`: at least two of them. */
export function describeAge(ms: DurationMs): string {
  const days = Math.max(0, Math.floor(ms / DAY_MS));
  const [size, unit] = AGE_UNITS.find(([unitDays]) => days >= 2 * unitDays) ?? [1, "day"];
  const count = Math.floor(days / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
