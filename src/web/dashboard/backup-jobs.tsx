import { formatAge, formatDuration } from "../shared/format.ts";
import type { BackupJob, BackupJobList } from "./answers.ts";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { usePoll } from "./use-poll.ts";

const EVERY_MS = 2_000;
/** Number of visible jobs. */
const JOBS_MAX = 5;

/** Shows the running and recent backup jobs, or nothing if the deployment has no list of them. */
export function BackupJobs({ now }: { now: number }) {
  const { body } = usePoll<BackupJobList>("/admin/backup/jobs", EVERY_MS);
  if (body === undefined || body.jobs.length === 0) return null;
  return (
    <>
      <h3>Jobs</h3>
      <Table label="Jobs" columns={["State", "Job", "Asked", "Took", "Says"]}>
        {body.jobs.slice(0, JOBS_MAX).map((job) => (
          <tr key={job.id} data-job={job.id}>
            <td>
              <StatusPill word={job.state} />
            </td>
            <td>{KINDS[job.kind]}</td>
            <td title={job.queued_at}>{formatAge(job.queued_at, now)}</td>
            <td class="number">
              {job.duration_ms === null ? "–" : formatDuration(job.duration_ms)}
            </td>
            <td>{wordOf(job)}</td>
          </tr>
        ))}
      </Table>
      <h3>Kept</h3>
    </>
  );
}

const KINDS = { run: "backup", verify: "verification", restore: "restore" } as const;

function wordOf({ state, stage, progress, error, undo_backup_id }: BackupJob): string {
  if (error !== null) return `${error.code.replaceAll("_", " ")}: ${error.message}`;
  if (state === "succeeded")
    return undo_backup_id === null ? "" : `To undo it, restore ${undo_backup_id}`;
  const counted = progress.total > 0 ? `, ${progress.done} of ${progress.total}` : "";
  return stage === null ? "" : `${stage.replaceAll("_", " ")}${counted}`;
}
