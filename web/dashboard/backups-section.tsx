import { formatDuration } from "../../src/platform/durations.ts";
import { formatBytes } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { deleteBackup, pinBackup, restoreBackup, verifyBackup } from "./actions.tsx";
import type { Backup, BackupJob, BackupList } from "./answers.ts";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { RowButton, Table } from "./table.tsx";
import { Time } from "./time.tsx";
import { usePages, usePoll } from "./use-poll.ts";

const EVERY_MS = 5_000;
const JOBS_EVERY_MS = 2_000;
/** Number of visible jobs. */
const JOBS_MAX = 5;

/** Lists the backups, and the jobs that make, verify and restore them. */
export function BackupsSection({ onAction }: { readonly onAction: (action: Action) => void }) {
  const polled = usePages<BackupList>("/admin/backup/list", EVERY_MS);
  const jobs = usePoll<{ jobs: readonly BackupJob[] }>("/admin/backup-jobs", JOBS_EVERY_MS);
  const otherFolders = polled.body?.other_folders ?? [];
  const backups = polled.pages.flatMap((page) => page.backups);
  // The backups wait for the jobs above them, so that nothing moves.
  if (jobs.body === undefined && jobs.failure === undefined)
    return <Section title="Backups" what="list of backups" polled={jobs} children={null} />;
  // One that a wrong clock has dated may stand above newer ones.
  const counting = backups.filter(({ ahead }) => !ahead);
  const verified = counting.find(isVerified);
  // Nobody may delete the newest backup and the newest verified one.
  const isKept = (backup: Backup) => backup.pinned || backup === verified || backup === counting[0];
  return (
    <Section title="Backups" what="list of backups" polled={polled}>
      {backups.length > 0 && (
        <p class="hint">
          {verified ? (
            <>
              Last verified <Time at={verified.verified.at} />
            </>
          ) : (
            "No backup has been verified."
          )}
        </p>
      )}
      {otherFolders.length > 0 && (
        <p class="hint">
          Below <code>backups/</code> there are folders that are no backup’s:{" "}
          {otherFolders.join(", ")}.
        </p>
      )}
      {jobs.body && <Jobs jobs={jobs.body.jobs} />}
      <Table
        label="Backups"
        columns={COLUMNS}
        rows={backups.map((backup) => backupRow(backup, { onAction, isKept: isKept(backup) }))}
        advice="The cron trigger takes one a day, and “Back up” one now."
      />
    </Section>
  );
}

const COLUMNS = ["State", "Started", "Took", "Size", "Version", "Verified", "Pinned", "Note", ""];

function isVerified({ verified: { state } }: Backup): boolean {
  return state === "verified";
}

interface RowOptions {
  readonly onAction: (action: Action) => void;
  readonly isKept: boolean;
}

function backupRow(backup: Backup, { onAction, isKept }: RowOptions) {
  const { id, pinned, verified, duration_ms: took, size_bytes: size } = backup;
  const about = `the backup ${id}`;
  const isComplete = backup.state === "complete";
  return {
    key: id,
    cells: [
      <StatusPill word={backup.state} />,
      <Time at={backup.started_at} />,
      took === null ? "–" : formatDuration(took),
      size === null ? "–" : formatBytes(size),
      backup.generation ?? "–",
      <span title={verified.message}>
        <StatusPill word={verified.state} /> {verified.at && <Time at={verified.at} />}
      </span>,
      pinned ? "pinned" : "–",
      backup.problem ?? backup.note ?? "",
      <div class="row">
        {(isComplete || backup.state === "damaged") && (
          <RowButton about={about} onClick={() => onAction(verifyBackup(id))}>
            Verify …
          </RowButton>
        )}
        <RowButton about={about} onClick={() => onAction(pinBackup(id, pinned))}>
          {pinned ? "Unpin …" : "Pin …"}
        </RowButton>
        {isComplete && (
          <RowButton about={about} onClick={() => onAction(restoreBackup(backup))}>
            Restore …
          </RowButton>
        )}
        {!isKept && (
          <RowButton about={about} onClick={() => onAction(deleteBackup(backup))}>
            Delete …
          </RowButton>
        )}
      </div>,
    ],
  };
}

/** Shows the latest jobs. */
function Jobs({ jobs }: { readonly jobs: readonly BackupJob[] }) {
  if (jobs.length === 0) return null;
  return (
    <>
      <h3>Jobs</h3>
      <Table
        label="Jobs"
        columns={["State", "Job", "Queued", "Took", "Progress"]}
        rows={jobs.slice(0, JOBS_MAX).map((job) => ({
          key: job.id,
          cells: [
            <StatusPill word={job.state} />,
            JOB_NAMES[job.kind],
            <Time at={job.queued_at} />,
            job.duration_ms === null ? "–" : formatDuration(job.duration_ms),
            progressOf(job),
          ],
        }))}
      />
      <h3>All backups</h3>
    </>
  );
}

const JOB_NAMES = { run: "backup", verify: "verification", restore: "restore" } as const;

function progressOf(job: BackupJob): string {
  const { kind, state, stage, progress, error, chain, warning } = job;
  if (error !== null) return `${error.code.replaceAll("_", " ")}: ${error.message}`;
  if (state === "succeeded" && kind !== "restore") return "";
  if (state === "succeeded") return `${warning ?? ""} To undo it, restore ${chain[0]}`.trim();
  const counted = progress.total > 0 ? `, ${progress.done} of ${progress.total}` : "";
  return stage === null ? "" : `${stage.replaceAll("_", " ")}${counted}`;
}
