import type { Facts, Reading } from "./facts.ts";
import type { Thresholds } from "./thresholds.ts";

export const RULE_NAMES = [
  "catalog_stale",
  "ingest_failing",
  "ingest_stuck",
  "guard_tripped",
  "ingest_paused_long",
  "queue_backlog",
  "integrity_mismatch",
  "backup_stale",
  "backup_unverified",
  "coverage_drop",
  "notify_failing",
  "monitor_gap",
] as const;
export type RuleName = (typeof RULE_NAMES)[number];

export const SEVERITIES = ["warn", "fail"] as const;
/** How bad it is while an alert fires. */
export type Severity = (typeof SEVERITIES)[number];

/** Whether a condition is met; `nodata` where that cannot be known. */
export type Verdict = "good" | "bad" | "nodata";

export type Unit = "ms" | "runs" | "rows" | "guards" | "copies" | "points" | "evaluations";

type Scalar = string | number | boolean | null;

/** What may be told of a finding besides its message: JSON, not deeply nested. */
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
  readonly thresholds: Thresholds;
}

/** A condition that is watched. Pure: the same facts and time give the same findings. */
export interface Rule {
  readonly name: RuleName;
  readonly severity: Severity;
  /** How long the condition has to last before the alert fires. */
  readonly forMs: number;
  /** One finding for each thing that is watched; none if there is nothing to watch. */
  readonly evaluate: (facts: Facts, context: RuleContext) => readonly Finding[];
}

/** What a rule measured. */
export interface Measurement {
  readonly value: number | null;
  readonly threshold: number;
  readonly unit: Unit;
  readonly message: string;
  readonly evidence?: Evidence;
  readonly labels?: Finding["labels"];
  readonly suppressed?: boolean;
}

/** A finding that is bad from its threshold upwards; without a value it is bad. */
export function measured(measurement: Measurement): Finding {
  const { value, threshold } = measurement;
  // What is no number is not below the threshold either.
  const verdict = value !== null && value < threshold ? "good" : "bad";
  return { labels: {}, evidence: {}, suppressed: false, ...measurement, verdict };
}

/** A finding about which nothing can be said. */
export function unknown(
  why: string,
  measurement: Omit<Measurement, "value" | "message" | "evidence">,
): Finding {
  const message = `Cannot be known: ${why}.`;
  const verdict = "nodata";
  return {
    labels: {},
    suppressed: false,
    ...measurement,
    value: null,
    message,
    evidence: { why },
    verdict,
  };
}

/** The first reason among readings that failed; undefined if all have a value. */
export function whyUnread(...readings: readonly Reading<unknown>[]): string | undefined {
  for (const reading of readings) if (!reading.ok) return reading.why;
  return undefined;
}
