import { sha256Hex } from "../catalog/bytes.ts";
import {
  judgeBackupAge,
  judgeGap,
  judgeSetAside,
  judgeSettings,
  judgeTargets,
  judgeTokens,
  judgeVerification,
} from "./operation-rules.ts";
import {
  judgeCopies,
  judgeCoverage,
  judgeDataAge,
  judgeLocales,
  judgeLostBlobs,
  judgeStaleness,
} from "./catalog-rules.ts";
import type { HealthStatus } from "../schemas/check.ts";
import type { Facts } from "./facts.ts";
import {
  judgeBacklog,
  judgeFailures,
  judgeGuards,
  judgeHeld,
  judgeLostHistory,
  judgeLedger,
  judgeStores,
  judgePause,
  judgeReplication,
  judgeSource,
  judgeStuck,
  judgeTicks,
} from "./ingest-rules.ts";
import type { AlertRule, Finding, RuleContext } from "./rule.ts";
import { RULE_NAMES, type RuleName, type Severity } from "../schemas/rule-names.ts";

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
  foreign_stores: { severity: "fail", forMs: 0, evaluate: judgeStores },
  guard_tripped: { severity: "warn", forMs: 0, evaluate: judgeGuards },
  changes_held: { severity: "warn", forMs: 0, evaluate: judgeHeld },
  ingest_paused_long: { severity: "warn", forMs: 0, evaluate: judgePause },
  queue_backlog: { severity: "warn", forMs: FOUR_TICKS_MS, evaluate: judgeBacklog },
  blobs_lost: { severity: "fail", forMs: 0, evaluate: judgeLostBlobs },
  integrity_mismatch: { severity: "warn", forMs: TWO_TICKS_MS, evaluate: judgeCopies },
  ledger_lost: { severity: "warn", forMs: 0, evaluate: judgeLedger },
  history_lost: { severity: "warn", forMs: 0, evaluate: judgeLostHistory },
  values_set_aside: { severity: "warn", forMs: 0, evaluate: judgeSetAside },
  backup_stale: { severity: "fail", forMs: 0, evaluate: judgeBackupAge },
  backup_unverified: { severity: "warn", forMs: 0, evaluate: judgeVerification },
  coverage_drop: { severity: "warn", forMs: 0, evaluate: judgeCoverage },
  locales_differ: { severity: "warn", forMs: 0, evaluate: judgeLocales },
  notify_failing: { severity: "warn", forMs: 0, evaluate: judgeTargets },
  ticks_missed: { severity: "warn", forMs: 0, evaluate: judgeTicks },
  monitor_gap: { severity: "warn", forMs: 0, evaluate: judgeGap },
  token_expiring: { severity: "warn", forMs: 0, evaluate: judgeTokens },
  settings_wrong: { severity: "warn", forMs: 0, evaluate: judgeSettings },
} as const satisfies { readonly [R in RuleName]: AlertRule };

/** A finding with its alert. */
export interface RuleFinding extends Finding {
  readonly rule: RuleName;
  readonly fingerprint: string;
  readonly forMs: number;
  /** The only judgment: checks, answers and alerts show it. */
  readonly status: HealthStatus;
  /** The status unless that is `pass`; then the severity of the rule. */
  readonly severity: Severity;
}

/** Evaluates every rule. Pure. */
export function evaluateRules(facts: Facts, context: RuleContext): readonly RuleFinding[] {
  return RULE_NAMES.flatMap((name) =>
    [RULES[name].evaluate(facts, context)].flat().map((finding) => findingOf(name, finding)),
  );
}

/** Completes a finding with its identity and its status. */
export function findingOf(name: RuleName, finding: Finding): RuleFinding {
  const rule: AlertRule = RULES[name];
  const status = statusOf(rule, finding);
  return {
    ...finding,
    rule: name,
    fingerprint: fingerprintOf(name, finding.labels),
    forMs: rule.forMs,
    status,
    severity: status === "pass" ? rule.severity : status,
  };
}

function statusOf(
  { severity, warnsFrom }: AlertRule,
  { verdict, value, suppressed }: Finding,
): HealthStatus {
  if (verdict === "bad") return suppressed ? "warn" : severity;
  const isNear = warnsFrom !== undefined && value !== null && value >= warnsFrom;
  return verdict === "nodata" || isNear ? "warn" : "pass";
}

/** Hex digits of a fingerprint, as in Alertmanager. */
const FINGERPRINT_LENGTH = 16;

/** Identifies an alert by its rule and labels. Never changes. */
export function fingerprintOf(rule: RuleName, labels: Finding["labels"]): string {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([rule, sorted])).slice(0, FINGERPRINT_LENGTH);
}
