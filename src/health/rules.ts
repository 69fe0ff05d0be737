import { sha256Hex } from "../catalog/bytes.ts";
import {
  judgeBackupAge,
  judgeGap,
  judgeTargets,
  judgeTokens,
  judgeVerification,
} from "./operation-rules.ts";
import { judgeCopies, judgeCoverage, judgeDataAge, judgeStaleness } from "./catalog-rules.ts";
import type { HealthStatus } from "./check.ts";
import type { Facts } from "./facts.ts";
import {
  judgeBacklog,
  judgeFailures,
  judgeGuards,
  judgeHeld,
  judgeHistory,
  judgeLedger,
  judgeOwner,
  judgePause,
  judgeReplication,
  judgeSource,
  judgeStuck,
  judgeTicks,
} from "./ingest-rules.ts";
import type { AlertRule, Finding, RuleContext } from "./rule.ts";
import { RULE_NAMES, type RuleName, type Severity } from "./rule-names.ts";

/** Two ticks, whose distance varies by seconds. A single tick may see a blip. */
const TWO_TICKS_MS = 4 * 60_000;
/** Four ticks. A briefly long queue is no backlog. */
const FOUR_TICKS_MS = 14 * 60_000;

/** Every rule. docs/alerts.md explains each one and the remedy. */
export const RULES = {
  catalog_stale: { severity: "fail", forMs: 0, evaluate: judgeStaleness },
  data_old: { severity: "warn", forMs: 0, evaluate: judgeDataAge },
  ingest_failing: { severity: "fail", forMs: 0, warnsFrom: 1, evaluate: judgeFailures },
  source_broken: { severity: "fail", forMs: 0, evaluate: judgeSource },
  ingest_stuck: { severity: "fail", forMs: TWO_TICKS_MS, evaluate: judgeStuck },
  replication_stuck: { severity: "fail", forMs: 0, evaluate: judgeReplication },
  foreign_stores: { severity: "fail", forMs: 0, evaluate: judgeOwner },
  guard_tripped: { severity: "warn", forMs: 0, evaluate: judgeGuards },
  changes_held: { severity: "warn", forMs: 0, evaluate: judgeHeld },
  ingest_paused_long: { severity: "warn", forMs: 0, evaluate: judgePause },
  queue_backlog: { severity: "warn", forMs: FOUR_TICKS_MS, evaluate: judgeBacklog },
  integrity_mismatch: { severity: "fail", forMs: TWO_TICKS_MS, evaluate: judgeCopies },
  ledger_lost: { severity: "warn", forMs: 0, evaluate: judgeLedger },
  history_lost: { severity: "warn", forMs: 0, evaluate: judgeHistory },
  backup_stale: { severity: "fail", forMs: 0, evaluate: judgeBackupAge },
  backup_unverified: { severity: "warn", forMs: 0, evaluate: judgeVerification },
  coverage_drop: { severity: "warn", forMs: 0, evaluate: judgeCoverage },
  notify_failing: { severity: "warn", forMs: 0, evaluate: judgeTargets },
  ticks_missed: { severity: "warn", forMs: 0, evaluate: judgeTicks },
  monitor_gap: { severity: "warn", forMs: 0, evaluate: judgeGap },
  token_expiring: { severity: "warn", forMs: 0, evaluate: judgeTokens },
} as const satisfies { readonly [R in RuleName]: AlertRule };

/** A finding with its alert. */
export interface RuleFinding extends Omit<Finding, "isOutage"> {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly forMs: number;
  /** The status of the check that shows it. */
  readonly status: HealthStatus;
}

/** Evaluates every rule. Pure. */
export function evaluateRules(facts: Facts, context: RuleContext): readonly RuleFinding[] {
  return RULE_NAMES.flatMap((name) =>
    [RULES[name].evaluate(facts, context)].flat().map((finding) => findingOf(name, finding)),
  );
}

/** Completes a finding with what its rule says about it. */
export function findingOf(name: RuleName, { isOutage = false, ...finding }: Finding): RuleFinding {
  const rule: AlertRule = RULES[name];
  return {
    ...finding,
    rule: name,
    fingerprint: fingerprintOf(name, finding.labels),
    severity: rule.severity,
    forMs: rule.forMs,
    status: finding.verdict === "bad" && isOutage ? "fail" : statusOf(rule, finding),
  };
}

function statusOf({ warnsFrom }: AlertRule, { verdict, value }: Finding): HealthStatus {
  const isNear = warnsFrom !== undefined && value !== null && value >= warnsFrom;
  return verdict === "good" && !isNear ? "pass" : "warn";
}

/** Hex digits of a fingerprint, as in Alertmanager. */
const FINGERPRINT_LENGTH = 16;

/** Identifies an alert by its rule and labels. Never changes. */
export function fingerprintOf(rule: RuleName, labels: Finding["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([rule, sorted])).slice(0, FINGERPRINT_LENGTH);
}
