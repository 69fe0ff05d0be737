import { sha256Hex } from "../catalog/hash.ts";
import { backupStale, backupUnverified } from "./backup-rules.ts";
import { catalogStale, coverageDrop, integrityMismatch } from "./catalog-rules.ts";
import type { Facts } from "./facts.ts";
import {
  guardTripped,
  ingestFailing,
  ingestPausedLong,
  ingestStuck,
  queueBacklog,
} from "./ingest-rules.ts";
import { monitorGap, notifyFailing } from "./monitor-rules.ts";
import type { Finding, Rule, RuleContext, RuleName, Severity } from "./rule.ts";

/** Every rule; the README says what each means and what to do. */
export const RULES: readonly Rule[] = [
  catalogStale,
  ingestFailing,
  ingestStuck,
  guardTripped,
  ingestPausedLong,
  queueBacklog,
  integrityMismatch,
  backupStale,
  backupUnverified,
  coverageDrop,
  notifyFailing,
  monitorGap,
];

/** A finding, and which alert it is about. */
export interface RuleFinding extends Finding {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly forMs: number;
}

/** Asks every rule. Pure. */
export function evaluateRules(facts: Facts, context: RuleContext): readonly RuleFinding[] {
  return RULES.flatMap(({ name: rule, severity, forMs, evaluate }) =>
    evaluate(facts, context).map((finding) => ({
      ...finding,
      rule,
      fingerprint: fingerprintOf(rule, finding.labels),
      severity,
      forMs,
    })),
  );
}

/** Hex digits of a fingerprint, as many as Alertmanager's have. */
const FINGERPRINT_LENGTH = 16;

/** Names one alert: the same for the same rule and labels, for ever. */
export function fingerprintOf(rule: RuleName, labels: Finding["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([rule, sorted])).slice(0, FINGERPRINT_LENGTH);
}
