/**
 * The checks of the service: the monitor's last findings, their age, and what is known live. Pure.
 * Only the rules judge; here a finding becomes a check, and a late evaluation fails.
 */
import type { Manifest } from "../catalog/manifest.ts";
import type { Run } from "../coordinator/run.ts";
import type { CoordinatorStatus } from "../coordinator/status.ts";
import type { Copy } from "../storage/catalog-store.ts";
import type { Check, Checks } from "./check.ts";
import type { IngestFacts } from "./facts.ts";
import { judgeHistory, judgeOwner } from "./ingest-rules.ts";
import type { Limits } from "./limits.ts";
import { describeDuration } from "./rule.ts";
import { findingOf, type RuleFinding } from "./rules.ts";

/** The part of a finding that a check shows. */
type CheckedFinding = Pick<RuleFinding, "status" | "value" | "unit" | "message">;

/** Status of the alert monitor. */
export interface MonitorStatusFacts {
  /** Problem of the settings; null if they are valid. */
  readonly problem: string | null;
  /** The last evaluation. Times are RFC 3339. */
  readonly lastRun: {
    readonly started_at: string;
    readonly results: readonly (CheckedFinding & Pick<RuleFinding, "rule">)[];
  } | null;
  /** Number of configured webhooks. */
  readonly webhooks: number;
}

/** Shows a finding as a check; `time` is that of its evaluation. */
export function toCheck({ status, value, unit, message }: CheckedFinding, time?: string): Check {
  return {
    status,
    observedValue: value,
    observedUnit: unit,
    ...(time !== undefined && { time }),
    ...(status !== "pass" && { output: message }),
  };
}

/** Checks the monitor itself and shows its last findings, by rule. */
export function checkMonitor(
  { problem, lastRun, webhooks }: MonitorStatusFacts,
  context: { readonly now: number; readonly limits: Pick<Limits, "monitorGapMs"> },
): Checks {
  const findings = Map.groupBy(lastRun?.results ?? [], ({ rule }) => `rule:${rule}` as const);
  return {
    "monitor:settings": [
      problem === null ? { status: "pass" } : { status: "fail", output: problem },
    ],
    "monitor:evaluation": [checkEvaluation(lastRun?.started_at ?? null, context)],
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
function checkEvaluation(
  at: string | null,
  { now, limits }: { readonly now: number; readonly limits: Pick<Limits, "monitorGapMs"> },
): Check {
  if (at === null) return { status: "fail", output: "the rules have never been evaluated" };
  const age = now - Date.parse(at);
  // A time that lies ahead is as wrong as one that is too long ago.
  if (Math.abs(age) < limits.monitorGapMs) return { status: "pass", time: at };
  const distance = `${describeDuration(Math.abs(age))} ${age > 0 ? "ago" : "in the future"}`;
  const output = `the rules were last evaluated ${distance}: look at the cron trigger and the log`;
  return { status: "fail", time: at, output };
}

/** The part of the coordinator's status that is shown live. */
export interface LiveCoordinatorFacts extends Pick<CoordinatorStatus, "pause"> {
  readonly running: Pick<Run, "id" | "stage" | "progress"> | null;
  readonly queued: IngestFacts["queued"];
}

/** Judges live what must not pass until the next evaluation: whose the stores are, and lost history. */
export function checkLosses(
  status: IngestFacts,
  { manifest, now }: { readonly manifest: Manifest | null; readonly now: number },
): Checks {
  const ingest = { ok: true, value: status } as const;
  const copy: Copy<Manifest> =
    manifest === null ? { ok: false, fault: "missing", detail: "" } : { ok: true, value: manifest };
  return {
    "rule:foreign_stores": [
      toCheck(findingOf("foreign_stores", judgeOwner({ ingest, catalog: { kv: copy, r2: copy } }))),
    ],
    "rule:history_lost": [toCheck(findingOf("history_lost", judgeHistory({ ingest }, { now })))],
  };
}

/** Shows the pause, the queue and the run under way. A pause only warns. */
export function checkCoordinator(status: LiveCoordinatorFacts): Checks {
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
 * Says why neither store has a manifest: they have lost it, or nothing is published yet, and then how
 * far the run is that publishes for the first time. Until it has, nobody need have evaluated the rules.
 */
export function checkEmptyStores(
  { running, queued, pause, current }: LiveCoordinatorFacts & Pick<IngestFacts, "current">,
  { lastRun }: Pick<MonitorStatusFacts, "lastRun">,
): Checks {
  if (current !== null) {
    const output = `both stores have lost the manifest of version ${current.generation}, which the coordinator replaces within five minutes; if they have lost more, restore the newest backup`;
    return { "catalog:present": [{ status: "fail", output }] };
  }
  if (pause !== null || (running === null && queued.length === 0)) return {};
  return {
    "catalog:present": [{ status: "warn", output: firstRunOutput(running) }],
    ...(lastRun === null && {
      "monitor:evaluation": [{ status: "warn", output: "the rules have not been evaluated yet" }],
    }),
  };
}

function firstRunOutput(running: LiveCoordinatorFacts["running"]): string {
  if (running === null) return "the first run waits in the queue";
  const { stage, progress } = running;
  const share = progress.total > 0 ? `: ${progress.done} of ${progress.total}` : "";
  return `the first run is under way, in stage ${stage}${share}`;
}

function pauseOutput({ by, until, note }: NonNullable<LiveCoordinatorFacts["pause"]>): string {
  const end = until === null ? "" : ` until ${until.slice(0, 16).replace("T", " ")} UTC`;
  const why = note === null ? "" : `: ${note}`;
  return `paused by ${by}${end}${why}`;
}
