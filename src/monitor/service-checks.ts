/**
 * The checks of the service: the monitor's last findings, their age, and live findings. Pure. Only the
 * rules evaluate; here a finding becomes a check, and a late evaluation or first run fails.
 */
import { formatDuration } from "../platform/durations.ts";
import type { Manifest } from "../parts/manifest.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import { EVALUATION, type RuleName } from "../schemas/rule-names.ts";
import type { Pause } from "../schemas/pause.ts";
import { evaluateLocales } from "./catalog-rules.ts";
import type { Check, Checks } from "../schemas/check.ts";
import {
  evaluateFailures,
  evaluateGuards,
  evaluateHistory,
  evaluateSource,
  evaluateStores,
} from "./ingest-rules.ts";
import type { MonitorStatus } from "./monitor.ts";
import { bothShow } from "./facts.ts";
import { MONITOR_GAP_MS } from "./alert-settings.ts";
import { type Finding, type RuleContext } from "./rule.ts";
import { completeFinding, type RuleFinding } from "./rules.ts";
import { durationOf } from "../platform/time.ts";
import type { EpochMs, Instant } from "../platform/units.ts";

/** The part of a finding that a check shows. */
type CheckedFinding = Pick<
  RuleFinding,
  "status" | "value" | "unit" | "message" | "fingerprint" | "evidence"
>;

/** Shows a finding as a check; `time` is that of its evaluation. */
export function toCheck(finding: CheckedFinding, time?: Instant): Check {
  const { status, value, unit, message, fingerprint, evidence } = finding;
  const { run_id: one, runs } = evidence;
  const [first] = Array.isArray(runs) ? runs : [];
  const runId = one ?? (typeof first === "object" ? first?.["id"] : undefined);
  return {
    status,
    fingerprint,
    observedValue: value,
    observedUnit: unit,
    ...(time !== undefined && { time }),
    ...(status !== "pass" && { output: message }),
    ...(typeof runId === "string" && { runId }),
  };
}

/** Checks the monitor itself and shows its last findings, by rule. */
export function checkMonitor({ lastRun, webhooks }: MonitorStatus, now: EpochMs): Checks {
  const findings = Map.groupBy(lastRun?.results ?? [], ({ rule }) => `rule:${rule}` as const);
  return {
    [EVALUATION]: [checkEvaluation(lastRun?.started_at ?? null, now)],
    "monitor:webhooks": [
      {
        status: webhooks > 0 ? "pass" : "warn",
        observedValue: webhooks,
        ...(webhooks === 0 && { output: "no webhook is configured: nobody is notified" }),
      },
    ],
    ...Object.fromEntries(
      [...findings].map(([name, found]) => [
        name,
        found.map((finding) => toCheck(finding, lastRun?.started_at)),
      ]),
    ),
  };
}

/** Fails without a recent evaluation, since then nobody knows what the rules would find. */
function checkEvaluation(at: Instant | null, now: EpochMs): Check {
  if (at === null) return { status: "fail", output: "the rules have never been evaluated" };
  const age = durationOf(at, now);
  if (age < MONITOR_GAP_MS) return { status: "pass", time: at };
  const output = `the rules were last evaluated ${formatDuration(age)} ago: look at the cron trigger and the log`;
  return { status: "fail", time: at, output };
}

/** Evaluates the rules that cannot wait for the next evaluation. */
export function checkLive(
  status: CoordinatorStatus,
  manifest: Manifest | null,
  context: RuleContext,
): Checks {
  const facts = { ingest: { ok: true, value: status }, catalog: bothShow(manifest) } as const;
  const check = (name: RuleName, finding: Finding) => [
    toCheck(completeFinding(name, finding, context)),
  ];
  return {
    "rule:ingest_failing": check("ingest_failing", evaluateFailures(facts)),
    "rule:source_broken": check("source_broken", evaluateSource(facts)),
    "rule:guard_tripped": check("guard_tripped", evaluateGuards(facts)),
    "rule:foreign_stores": check("foreign_stores", evaluateStores(facts)),
    "rule:history_lost": check("history_lost", evaluateHistory(facts, context)),
    "rule:locales_differ": check("locales_differ", evaluateLocales(facts)),
  };
}

/** Shows the pause, the queue and the run in progress. A pause only warns. */
export function checkCoordinator(status: CoordinatorStatus): Checks {
  const { pause, queued, running } = status;
  return {
    "ingest:paused": [
      pause === null
        ? { status: "pass", observedValue: false }
        : {
            status: "warn",
            observedValue: true,
            time: pause.at,
            output: pauseOutput(pause),
          },
    ],
    "ingest:queue": [{ status: "pass", observedValue: queued.length, observedUnit: "runs" }],
    "ingest:running": [
      { status: "pass", observedValue: running === null ? null : `${running.id} ${running.stage}` },
    ],
  };
}

/**
 * Says why neither store has a manifest: they have lost it, or nothing is published yet. Then it says
 * how far the first run is; until that run is late, the rules need not have been evaluated.
 */
export function checkEmptyStores(
  { running, queued, pause, current }: CoordinatorStatus,
  { lastRun }: MonitorStatus,
  now: EpochMs,
): Checks {
  if (current !== null) {
    const output = `both stores have lost the manifest of version ${current.generation}, which the coordinator replaces within five minutes; if they have lost more, restore the newest backup`;
    return { "catalog:present": [{ status: "fail", output }] };
  }
  const first = running ?? queued[0];
  if (pause !== null || first === undefined) return {};
  const age = durationOf(first.queued_at, now);
  const progress = firstRunOutput(running);
  if (age >= MONITOR_GAP_MS) {
    const output = `${progress}, and was queued ${formatDuration(age)} ago: look at the run and the log`;
    return { "catalog:present": [{ status: "fail", output }] };
  }
  return {
    "catalog:present": [{ status: "warn", output: progress }],
    ...(lastRun === null && {
      [EVALUATION]: [{ status: "warn", output: "the rules have not been evaluated yet" }],
    }),
  };
}

function firstRunOutput(running: CoordinatorStatus["running"]): string {
  if (running === null) return "the first run waits in the queue";
  const { stage, progress } = running;
  const share = progress.total > 0 ? `: ${progress.done} of ${progress.total}` : "";
  return `the first run is in progress, in stage ${stage}${share}`;
}

function pauseOutput({ by, until, note }: Pause): string {
  const end = until === null ? "" : ` until ${until.slice(0, 16).replace("T", " ")} UTC`;
  const why = note === null ? "" : `: ${note}`;
  return `paused by ${by}${end}${why}`;
}
