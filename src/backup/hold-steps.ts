/** The phases between which the ingest is held, so that what is copied is of one moment. */
import type { TableShape } from "../storage/database-copy.ts";
import { fault } from "./fault.ts";
import { type Draft, failWith, next, type StepContext, type StepResult, wait } from "./job.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** A hold that is not renewed ends after this time. */
const BACKUP_HOLD_MS = 2 * 60_000;
const RESTORE_HOLD_MS = 60 * 60_000;
/** How often to look whether a step of an ingest run has ended. */
const HOLD_POLL_MS = 500;
/** Tables to be copied before the others: `alert_findings` belong to them. */
const FIRST_TABLES = new Set(["alert_runs"]);

/** Holds the ingest between two of its steps, and has it copy its state as it is then. */
export async function hold(
  { ingest, database, now }: StepDependencies,
  { job, checkpoint }: StepContext,
): Promise<StepResult> {
  const held = await ingest.hold(holdRequest(job));
  if (!held.ok && held.reason === "run_active")
    return failWith(
      fault("run_active", `ingest run ${held.runId} is under way; wait for its end, or cancel it`),
    );
  if (!held.ok || !held.ready) return wait(checkpoint, HOLD_POLL_MS);
  if (!(await ingest.takeSnapshot(job.id))) return wait(checkpoint, HOLD_POLL_MS);
  const draft: Draft = {
    startedAt: new Date(now()).toISOString(),
    tables: inCopyOrder(await database.tables()),
    tablesDone: 0,
    afterRow: null,
    linesDone: 0,
    partsDone: 0,
    versions: [],
    builtBy: [],
  };
  return next({ ...checkpoint, draft });
}

/**
 * Tables whose rows others belong to come first. The hold does not stop the alerts: what they write
 * in the meantime is then a row's company without the row, which nobody looks for, and never a row
 * without its company.
 */
function inCopyOrder(tables: readonly TableShape[]): TableShape[] {
  const isFirst = ({ name }: TableShape) => FIRST_TABLES.has(name);
  return [...tables.filter(isFirst), ...tables.filter((table) => !isFirst(table))];
}

/** Renews the hold of a job. False if it had ended: then the state may have changed since. */
export async function goOnHolding(
  { ingest }: StepDependencies,
  job: StepContext["job"],
): Promise<boolean> {
  const held = await ingest.hold(holdRequest(job));
  return held.ok && !held.isNew;
}

export const HOLD_LOST = failWith(
  fault("hold_lost", "it took too long, so that the ingest went on in the meantime; try again"),
);

function holdRequest({ id, kind }: StepContext["job"]) {
  const isRestore = kind === "restore";
  return {
    by: id,
    kind: isRestore ? ("restore" as const) : ("backup" as const),
    forMs: isRestore ? RESTORE_HOLD_MS : BACKUP_HOLD_MS,
  };
}

/** Lets the ingest go on. */
export async function release(
  { ingest }: StepDependencies,
  { job, checkpoint }: Pick<StepContext, "job" | "checkpoint">,
): Promise<StepResult> {
  await ingest.forgetTransfer();
  await ingest.release(job.id);
  return next(checkpoint);
}
