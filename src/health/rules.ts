import { sha256Hex } from "../catalog/hash.ts";
import { judgeBackupAge, judgeVerification } from "./backup-rules.ts";
import { judgeCopies, judgeCoverage, judgeDataAge, judgeStaleness } from "./catalog-rules.ts";
import type { Facts } from "./facts.ts";
import {
  judgeBacklog,
  judgeFailures,
  judgeGuards,
  judgeHeld,
  judgePause,
  judgeReplication,
  judgeSource,
  judgeStuck,
} from "./ingest-rules.ts";
import { judgeGap, judgeTargets, judgeTokens } from "./monitor-rules.ts";
import type { Finding, Rule, RuleContext, Severity } from "./rule.ts";

/** Two ticks, whose distance varies by seconds. A single tick may see a blip. */
const TWO_TICKS_MS = 4 * 60_000;
/** Four ticks. A briefly long queue is no backlog. */
const FOUR_TICKS_MS = 14 * 60_000;

/** Every rule. docs/alerts.md explains each one and the remedy. */
export const RULES = {
  catalog_stale: { severity: "fail", forMs: 0, judge: judgeStaleness },
  data_old: { severity: "warn", forMs: 0, judge: judgeDataAge },
  ingest_failing: { severity: "fail", forMs: 0, judge: judgeFailures },
  source_broken: { severity: "fail", forMs: 0, judge: judgeSource },
  ingest_stuck: { severity: "fail", forMs: TWO_TICKS_MS, judge: judgeStuck },
  replication_stuck: { severity: "fail", forMs: 0, judge: judgeReplication },
  guard_tripped: { severity: "warn", forMs: 0, judge: judgeGuards },
  changes_held: { severity: "warn", forMs: 0, judge: judgeHeld },
  ingest_paused_long: { severity: "warn", forMs: 0, judge: judgePause },
  queue_backlog: { severity: "warn", forMs: FOUR_TICKS_MS, judge: judgeBacklog },
  integrity_mismatch: { severity: "fail", forMs: TWO_TICKS_MS, judge: judgeCopies },
  backup_stale: { severity: "fail", forMs: 0, judge: judgeBackupAge },
  backup_unverified: { severity: "warn", forMs: 0, judge: judgeVerification },
  coverage_drop: { severity: "warn", forMs: 0, judge: judgeCoverage },
  notify_failing: { severity: "warn", forMs: 0, judge: judgeTargets },
  monitor_gap: { severity: "warn", forMs: 0, judge: judgeGap },
  token_expiring: { severity: "warn", forMs: 0, judge: judgeTokens },
} as const satisfies { readonly [name: string]: Rule };

export type RuleName = keyof typeof RULES;
export const RULE_NAMES = Object.keys(RULES) as readonly RuleName[]; // its own keys

/** A finding with its alert. */
export interface RuleFinding extends Finding {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly forMs: number;
}

/** Evaluates every rule. Pure. */
export function evaluateRules(facts: Facts, context: RuleContext): readonly RuleFinding[] {
  return RULE_NAMES.flatMap((rule) => {
    const { severity, forMs, judge } = RULES[rule];
    return [judge(facts, context)].flat().map((finding) => ({
      ...finding,
      rule,
      fingerprint: fingerprintOf(rule, finding.labels),
      severity,
      forMs,
    }));
  });
}

/** Hex digits of a fingerprint, as in Alertmanager. */
const FINGERPRINT_LENGTH = 16;

/** Identifies an alert by its rule and labels. Never changes. */
export function fingerprintOf(rule: RuleName, labels: Finding["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([rule, sorted])).slice(0, FINGERPRINT_LENGTH);
}
