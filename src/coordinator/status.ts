import * as z from "zod";
import { count, type DeepReadonly, timestamp } from "../schemas/fields.ts";
import { setAsideNotice } from "../storage/object-tables.ts";
import { timeText } from "../platform/time.ts";
import { type BackupJob, jobSchema } from "../schemas/backup-job.ts";
import { heldSummary } from "../schemas/run-report.ts";
import { isBackup } from "./backup-jobs.ts";
import type { CoordinatorPlatform } from "./coordinator-platform.ts";
import { type EndedRun, endedRunSchema, type Run, runSchema, toListed } from "../schemas/run.ts";
import { isRun } from "./run-record.ts";
import { versionSchema } from "../schemas/version.ts";
import { bestCoverage, describeVersion } from "./versions.ts";
import { pauseSchema } from "../schemas/pause.ts";
import { dueSince, isOpen } from "./jobs.ts";

/** The only schema of the coordinator's present state, for rules and answers. */
export const coordinatorStatus = z.strictObject({
  pause: pauseSchema.nullable(),
  running: runSchema.nullable(),
  job: jobSchema.pick({ id: true, kind: true, stage: true, heartbeat_at: true }).nullable().meta({
    description: "The backup job in progress: runs wait for it.",
  }),
  queued: z.array(runSchema).meta({ description: "In starting order." }),
  nextDueAt: timestamp.nullable().meta({
    description: "Earliest start of the first queued run; null if none is queued.",
  }),
  ended: z.array(endedRunSchema).meta({ description: "The retained ended runs, newest first." }),
  current: versionSchema.nullable(),
  replicated: z.boolean().meta({ description: "Whether the stores show the current version." }),
  foreign: z.string().nullable().meta({
    description:
      "Why the stores are not this installation's own, so that it neither publishes nor deletes; null if they are.",
  }),
  outboxLength: count.meta({ description: "Number of rows that wait for D1." }),
  historyLostAt: timestamp.nullable().meta({
    description:
      "When rows or tables were missing in D1; null if none were since the last restore.",
  }),
  held: heldSummary.nullable().meta({
    description: "Changes by upstream that a rule marks and that wait; null if not known.",
  }),
  lastTicks: z.record(z.string(), z.int()).meta({
    description:
      "Scheduled time of the newest tick of each cron trigger, in milliseconds since 1970.",
  }),
  bestCoverage: z.record(z.string(), z.number().min(0).max(1)).meta({
    description: "Highest coverage of each locale in the retained versions.",
  }),
  oldestPublishedAt: timestamp.nullable().meta({
    description: "Publication time of the oldest retained version.",
  }),
  localeSettings: z
    .strictObject({ locales: z.array(z.string()), defaultLocale: z.string() })
    .meta({ description: "LOCALES and DEFAULT_LOCALE." }),
  setAside: z.array(setAsideNotice).meta({
    description: "Stored values that were set aside, until an operator deletes the list.",
  }),
});

export type CoordinatorStatus = DeepReadonly<z.output<typeof coordinatorStatus>>;

export function describeStatus({
  state,
  localeSettings,
}: Pick<CoordinatorPlatform, "state" | "localeSettings">): CoordinatorStatus {
  const queue = state.queue();
  const versions = state.versions();
  const running = queue.running.find(isRun);
  const backup = queue.running.find(isBackup);
  const waiting = queue.waiting.filter(isRun);
  const [next] = waiting;
  const [current = null] = versions;
  return {
    pause: queue.pause,
    running: running === undefined ? null : toListed(running.job),
    job: backup === undefined ? null : toJobInProgress(backup.job),
    queued: waiting.map(({ job }) => toListed(job)),
    nextDueAt: next === undefined ? null : timeText(dueSince(next)),
    ended: state
      .runs()
      .filter(({ state: at }) => !isOpen(at))
      .map(summarize),
    current: current && describeVersion(current, versions),
    replicated: state.unreplicated() === null,
    foreign: state.values.get("foreign"),
    outboxLength: state.history.length + state.audit.length,
    historyLostAt: state.values.get("history_lost"),
    held: state.savedLedger()?.held_changes ?? null,
    lastTicks: state.ticks.newest(),
    bestCoverage: bestCoverage(versions),
    oldestPublishedAt: versions.at(-1)?.published_at ?? null,
    localeSettings,
    setAside: state.tables
      .setAside()
      .map(({ table, key, at, problem }) => ({ table, key, at, problem })),
  };
}

function toJobInProgress({ id, kind, stage, started_at, heartbeat_at }: BackupJob) {
  return { id, kind, stage, heartbeat_at: heartbeat_at ?? started_at };
}

function summarize(run: Run): EndedRun {
  const { id, state, outcome, trigger, mode, finished_at, duration_ms, error, guards } = run;
  return { id, state, outcome, trigger, mode, finished_at, duration_ms, error, guards };
}
