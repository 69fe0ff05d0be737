import type { Facts, Reading } from "./facts.ts";
import type { Limits } from "./limits.ts";

export const SEVERITIES = ["warn", "fail"] as const;
/** How bad it is while an alert fires. */
export type Severity = (typeof SEVERITIES)[number];

/** Whether a condition is met; `nodata` where that cannot be known. */
export type Verdict = "good" | "bad" | "nodata";

export type Unit = "ms" | "runs" | "rows" | "guards" | "copies" | "points" | "evaluations";

type Scalar = string | number | boolean | null;

/** What a finding shows besides its message: JSON, not deeply nested. */
export type Evidence = {
  readonly [name: string]:
    Scalar | readonly Scalar[] | readonly { readonly [name: string]: Scalar }[];
};

/** What a rule says of one thing that it watches. */
export interface Finding {
  /** Which of several things it is; empty if the rule watches one. */
  readonly labels: { readonly [name: string]: string };
  readonly verdict: Verdict;
  /** Null if there is nothing to measure, or it cannot be known. */
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: Unit;
  /** One sentence for people. */
  readonly message: string;
  readonly evidence: Evidence;
  /** Whether the present pause of ingestion excuses it: then nobody is notified. */
  readonly suppressed: boolean;
}

export interface RuleContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly limits: Limits;
}

/** A condition that is watched. Pure: the same facts, limits and time give the same findings. */
export interface Rule {
  readonly severity: Severity;
  /** How long the condition has to last before the alert fires. */
  readonly forMs: number;
  /** One finding, or one for each thing that is watched; none if there is nothing to watch. */
  readonly judge: (facts: Facts, context: RuleContext) => Finding | readonly Finding[];
}

/** What is measured, and from which value on it is bad. */
interface Measurement extends Pick<Finding, "threshold" | "unit"> {
  readonly labels?: Finding["labels"];
  readonly suppressed?: boolean;
}

/** What came of measuring. */
export interface Measured extends Pick<Finding, "value" | "message"> {
  readonly evidence?: Evidence;
}

/** What `measure` says of an input, or that it cannot be known since the input is unread. */
export function judgeInput<T>(
  input: Reading<T>,
  measurement: Measurement,
  measure: (value: T) => Measured,
): Finding {
  return input.ok
    ? measured({ ...measurement, ...measure(input.value) })
    : unknown(input.why, measurement);
}

/** A finding that is bad from its threshold upwards; without a value it is bad. */
export function measured(measurement: Measurement & Measured): Finding {
  const { value, threshold } = measurement;
  // What is no number is not below the threshold either.
  const verdict = value !== null && value < threshold ? "good" : "bad";
  return { labels: {}, evidence: {}, suppressed: false, ...measurement, verdict };
}

/** A finding about which nothing can be said. */
export function unknown(why: string, measurement: Measurement): Finding {
  const message = `Cannot be known: ${why}.`;
  const said = { value: null, message, evidence: { why }, verdict: "nodata" } as const;
  return { labels: {}, suppressed: false, ...measurement, ...said };
}
