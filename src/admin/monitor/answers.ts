/**
 * The five questions of an operator, answered from one observation. Each status is that of checks; a
 * change that waits for an operator warns as well. Pure.
 */
import { Cron } from "croner";
import { validate as isUuid } from "uuid";
import { actionText } from "../../schemas/audit-actions.ts";
import { decidedIn, namesOf } from "../../schemas/decided-change.ts";
import { lastSuccess } from "../../monitor/catalog-rules.ts";
import {
  type Answer,
  type CheckProblem,
  type Checks,
  mostSevere,
  problemsOf,
  worstOf,
} from "../../schemas/check.ts";
import { EVALUATION } from "../../schemas/rule-names.ts";
import type { HeldSummary } from "../../schemas/run-report.ts";
import { describeAge } from "../../monitor/rule.ts";
import { hasEnded, type Pause } from "../../schemas/pause.ts";
import type { CoordinatorStatus } from "../../coordinator/status.ts";
import { durationOf, timeText } from "../../platform/time.ts";
import { isHalted } from "../../schemas/run-words.ts";
import type { DurationMs, EpochMs, Instant } from "../../platform/units.ts";
import type { ScheduledJob } from "../admin-platform.ts";
import type { Observation } from "./observation.ts";

type Detail = Answer["details"][number];

type ChangeByOperator = NonNullable<Observation["changes"]>[number];

interface Viewer {
  readonly jobs: readonly ScheduledJob[];
  /** The public reads no name, no reason and no message of an alert. */
  readonly isPublic: boolean;
}

export function answerQuestions(observation: Observation, viewer: Viewer): readonly Answer[] {
  const now = timeText(observation.at);
  const evaluated = observation.monitor?.lastRun?.started_at ?? now;
  return [
    { ...isServed(observation), at: now },
    { ...isFresh(observation), at: evaluated },
    { ...whatFailed(observation, viewer), at: evaluated },
    { ...whoChangedWhat(observation, viewer), at: now },
    { ...whatHappensNext(observation, viewer), at: now },
  ];
}

type UndatedAnswer = Omit<Answer, "at">;

function detail(text: string, at: Instant | null = null, links: Detail["links"] = []): Detail {
  return { text, at, links };
}

function problemDetail({ status, output }: CheckProblem, links: Detail["links"] = []): Detail {
  return { ...detail(output, null, links), status };
}

const GROUPED = new Intl.NumberFormat("en");

/** Formats 9074 and "run" as "9,074 runs". */
function numberOf(count: number, noun: string): string {
  return `${GROUPED.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The checks with one of these prefixes. */
function checksOf(checks: Checks, prefixes: readonly string[]): Checks {
  const isWanted = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(checks).filter(([name]) => isWanted(name)));
}

function isServed({ manifest, checks }: Observation): UndatedAnswer {
  const found = checksOf(checks, ["catalog:", "rule:blobs_lost"]);
  const status = worstOf(found);
  const problems = problemsOf(found).map((problem) => problemDetail(problem));
  const question = "served";
  if (status === "fail") {
    const answer = worstOf(checksOf(checks, ["catalog:"])) === "fail" ? "No" : "Not all of it";
    return { question, status, answer, details: [...problems, WAYS_BACK] };
  }
  if (manifest === null) return { question, status, answer: "Not yet", details: problems };
  const { generation, counts, locales } = manifest;
  const places = `${numberOf(counts.airports, "airport")} in ${numberOf(Object.keys(locales).length, "locale")}`;
  const version = detail(`Version ${generation}`, null, [{ text: "History", href: "#versions" }]);
  return { question, status, answer: "Yes", details: [version, detail(places), ...problems] };
}

const WAYS_BACK = detail("Go back to", null, [
  { text: "an earlier content", href: "#versions" },
  { text: "a backup", href: "#backups" },
]);

const FRESHNESS = [
  "catalog:present",
  "monitor:responseTime",
  "monitor:evaluation",
  "rule:catalog_stale",
  "rule:data_old",
];

function isFresh({ at, manifest, coordinator, checks, limits }: Observation): UndatedAnswer {
  const found = checksOf(checks, FRESHNESS);
  const successAt = lastSuccess(coordinator?.ended ?? [])?.finished_at;
  const details = [
    ...(manifest?.as_of ? [detail(describeData(durationOf(manifest.as_of, at), limits))] : []),
    ...(manifest ? [detail("Published", manifest.published_at)] : []),
    ...(successAt
      ? [detail("Last compared with its source", successAt, [{ text: "History", href: "#runs" }])]
      : []),
    ...problemsOf(found).map((problem) => problemDetail(problem)),
  ];
  const status = worstOf(found);
  const answer = manifest?.as_of ? `As of ${manifest.as_of}` : "Unknown";
  return { question: "fresh", status, answer, details };
}

function describeData(ageMs: DurationMs, { dataOldMs }: Observation["limits"]): string {
  return `The data is ${describeAge(ageMs)} old; the limit is ${describeAge(dataOldMs)}`;
}

/** Whether an operator wants it, or a new service has not ingested yet: `next` and `served` say so. */
function isExpected({ name, status }: CheckProblem): boolean {
  return name === "ingest:paused" || (name === "catalog:present" && status === "warn");
}

const OPERATING = "/docs/operating#when-something-is-wrong";

function whatFailed({ checks }: Observation, { isPublic }: Viewer): UndatedAnswer {
  const problems = problemsOf(checks).filter((problem) => !isExpected(problem));
  const details = problems.map((problem) => {
    const { name, output, runId } = problem;
    const [component = "", rule = ""] = name.split(":");
    if (component !== "rule")
      return problemDetail({ ...problem, output: `${component}: ${output}` }, [
        { text: "What to do", href: OPERATING },
      ]);
    const whatToDo = { text: rule, href: `/docs/alerts#${rule}` };
    if (isPublic)
      return problemDetail({ ...problem, output: rule.replaceAll("_", " ") }, [whatToDo]);
    const run = runId === undefined ? [] : [{ text: "The run", href: `#runs/${runId}` }];
    return problemDetail(problem, [whatToDo, ...run]);
  });
  const answer = details.length === 0 ? "Nothing" : numberOf(details.length, "problem");
  const status = mostSevere(problems.map((problem) => problem.status));
  return { question: "failed", status, answer, details };
}

const CHANGES_SHOWN = 3;

/** Whether it changed anything: a second pause does not. */
function hasEffect({ before, after }: ChangeByOperator): boolean {
  const isNegative =
    typeof after === "object" && after !== null && "changed" in after && !after.changed;
  const isSame = before !== null && JSON.stringify(before) === JSON.stringify(after);
  return !isNegative && !isSame;
}

const OF_AUDIT = ["audit:responseTime", "rule:history_lost"];

function whoChangedWhat(
  { manifest, checks, changes: attempts }: Observation,
  { isPublic }: Viewer,
): UndatedAnswer {
  const found = checksOf(checks, OF_AUDIT);
  const status = worstOf(found);
  const problems = problemsOf(found).map((problem) =>
    problem.name === "rule:history_lost"
      ? { ...INCOMPLETE_AUDIT, status: problem.status }
      : problemDetail(problem),
  );
  const published = manifest
    ? [detail(`Version ${manifest.generation} was published`, manifest.published_at)]
    : [];
  const changes = isPublic ? [] : attempts?.filter(hasEffect).slice(0, CHANGES_SHOWN);
  const [last] = changes ?? [];
  const version = manifest ? `Version ${manifest.generation}` : "Nothing";
  const newest = last ? describeChange(last).text : version;
  return {
    question: "changed",
    status,
    answer: changes === undefined ? "Unknown" : newest,
    details: [
      ...problems,
      ...(changes ?? []).map(describeChange),
      ...published,
      ...(last === undefined ? [] : [ALL_CHANGES]),
    ],
  };
}

function describeChange({ at, actor, action, target, after }: ChangeByOperator): Detail {
  const decided = decidedIn(after);
  // Nobody reads the id of a run, an evaluation or a backup.
  const id = target === null || isUuid(target) ? "" : target;
  const named = decided.length > 0 ? namesOf(decided) : id;
  return detail(`${actor}: ${actionText(action)}${named === "" ? "" : ` (${named})`}`, at);
}

const ALL_CHANGES = detail("Earlier:", null, [{ text: "All changes", href: "#audit" }]);
const INCOMPLETE_AUDIT = detail("The audit is incomplete, because D1 has lost rows.", null, [
  { text: "What to do", href: "/docs/alerts#history_lost" },
]);

const JOBS = {
  ingest: "ingest",
  watch: "evaluation of the alerts",
  back_up: "backup",
  verify_backup: "verification of a backup",
} as const satisfies { readonly [J in ScheduledJob["job"]]: string };

/** The checks of the last tick of a job's cron trigger. */
const TRIGGER_CHECKS = {
  watch: [EVALUATION, "rule:monitor_gap"],
  others: [EVALUATION, "rule:ticks_missed"],
};

const OF_SCHEDULE = ["coordinator:responseTime", "ingest:paused"];

function whatHappensNext(
  { at, coordinator, checks }: Observation,
  { jobs, isPublic }: Viewer,
): UndatedAnswer {
  const found = checksOf(checks, OF_SCHEDULE);
  const status = worstOf(found);
  const question = "next";
  const ticks = nextTicks(jobs, at);
  const scheduled = ticks.map((tick) =>
    describeTick(tick, { pause: coordinator?.pause ?? null, isLate: isLate(tick, checks) }),
  );
  if (coordinator === null) {
    const problems = problemsOf(found).map((problem) =>
      problemDetail({ ...problem, output: `The coordinator: ${problem.output}` }),
    );
    return { question, status, answer: "Unknown", details: [...problems, ...scheduled] };
  }
  const waiting = coordinator.held?.waiting ?? 0;
  const decisions = waiting > 0 ? `${numberOf(waiting, "change")} to decide on` : null;
  const answer = describeBusy(coordinator) ?? decisions ?? describeIdle(ticks, checks);
  const details = [...describeWork(coordinator, isPublic), ...scheduled];
  return {
    question,
    status: mostSevere([status, waiting > 0 ? "warn" : "pass"]),
    answer,
    details,
  };
}

interface Tick {
  readonly job: ScheduledJob["job"];
  readonly at: Instant;
}

function nextTicks(jobs: readonly ScheduledJob[], now: EpochMs): Tick[] {
  return jobs
    .map(({ cron, job }) => ({ job, at: nextTime(cron, now) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function nextTime(cron: string, now: EpochMs): Instant {
  const next = new Cron(cron, { timezone: "UTC", paused: true }).nextRun(new Date(now));
  return timeText(next?.getTime() ?? now);
}

/** Whether the trigger has been silent, so that nobody can promise its next tick. */
function isLate({ job }: Tick, checks: Checks): boolean {
  const names = job === "watch" ? TRIGGER_CHECKS.watch : TRIGGER_CHECKS.others;
  return worstOf(checksOf(checks, names)) !== "pass";
}

function describeTick(
  { job, at }: Tick,
  { pause, isLate: isUnsure }: { readonly pause: Pause | null; readonly isLate: boolean },
): Detail {
  const isSkipped = job === "ingest" && pause !== null && !hasEnded(pause, Date.parse(at));
  const skipped = isSkipped ? ", which the pause skips" : "";
  return detail(`Next ${JOBS[job]}${skipped}${isUnsure ? ", if its trigger comes" : ""}`, at);
}

function describeBusy({ job, pause, running, queued }: CoordinatorStatus): string | null {
  if (job !== null) return BACKUP_JOBS[job.kind];
  if (pause !== null) return "Ingestion is paused";
  return running !== null || queued.length > 0 ? "A run" : null;
}

function describeIdle(ticks: readonly Tick[], checks: Checks): string {
  // Evaluations happen all the time, and are no news.
  const next = ticks.find(({ job }) => job !== "watch");
  if (next === undefined) return "Nothing";
  return isLate(next, checks) ? "Unknown: the triggers are late" : `The next ${JOBS[next.job]}`;
}

function describeWork(
  { job, pause, running, queued, held }: CoordinatorStatus,
  isPublic: boolean,
): Detail[] {
  const details: Detail[] = [];
  if (job !== null) details.push(describeBackupJob(job));
  if (pause !== null) details.push(...describePause(pause, isPublic));
  if (running !== null)
    details.push(
      isHalted(running, pause !== null)
        ? detail(
            `A run waits in stage ${running.stage} until the pause ends; it started`,
            running.started_at,
          )
        : detail(`A run is in stage ${running.stage}; it started`, running.started_at),
    );
  if (queued.length > 0) details.push(detail(`${numberOf(queued.length, "run")} in the queue`));
  details.push(...describeHeld(held, isPublic));
  return details;
}

const BACKUP_JOBS = { run: "A backup", verify: "A verification", restore: "A restore" } as const;

function describeBackupJob(job: NonNullable<CoordinatorStatus["job"]>): Detail {
  const { kind, stage, heartbeat_at } = job;
  const links = [{ text: "Jobs", href: "#backups" }];
  return detail(`${BACKUP_JOBS[kind]} is in stage ${stage}`, heartbeat_at, links);
}

function describePause({ at, by, note, until }: Pause, isPublic: boolean): Detail[] {
  const why = note === null ? ", without a reason" : `: “${note}”`;
  const paused = isPublic ? "Paused" : `Paused by ${by}${why}`;
  const end = until === null ? "The pause ends when somebody resumes." : "The pause ends";
  return [detail(paused, at), detail(end, until)];
}

/** Describes the changes that the last run holds. After a rollback or a restore, only the next run knows. */
function describeHeld(held: HeldSummary | null, isPublic: boolean): Detail[] {
  if (held === null) return [detail("The next run finds which changes by upstream wait.")];
  const { waiting, oldest_since, next_due_at } = held;
  if (waiting === 0) return [];
  const changes = numberOf(waiting, "change");
  const links = isPublic ? [] : [{ text: "Decide", href: "#held" }];
  return [
    {
      ...detail(`At the last run, ${changes} by upstream waited for a decision.`, null, links),
      status: "warn",
    },
    detail("The oldest of them was first seen", oldest_since),
    next_due_at === null
      ? detail("They wait until somebody decides.")
      : detail("Without a decision, a run accepts the first of them", next_due_at),
  ];
}
