import { formatAge, formatBytes, formatDuration, formatTime } from "../shared/format.ts";
import type { Action } from "./action.ts";
import { BACK_UP, deleteBackup, pinBackup, restoreBackup, verifyBackup } from "./actions.ts";
import type { Backup, BackupList } from "./answers.ts";
import { BackupJobs } from "./backup-jobs.tsx";
import { FailureLine } from "./failure-line.tsx";
import { Section } from "./section.tsx";
import { StatusPill } from "./status-pill.tsx";
import { Table } from "./table.tsx";
import { usePoll } from "./use-poll.ts";

interface Props {
  readonly now: number;
  readonly onAction: (action: Action) => void;
}

const EVERY_MS = 5_000;

/** Lists the backups and their verdicts. */
export function BackupsSection({ now, onAction }: Props) {
  const { body, failure } = usePoll<BackupList>("/admin/backup/list", EVERY_MS);
  const lastVerified = body?.backups.find(({ verified }) => isGood(verified.state));
  return (
    <Section
      title="Backups"
      actions={
        <button type="button" class="button" onClick={() => onAction(BACK_UP)}>
          Back up now
        </button>
      }
    >
      <FailureLine failure={failure} what="list of backups" hasOlder={body !== undefined} />
      {body && (
        <p class="hint">
          <StatusPill word={body.status} />{" "}
          {lastVerified?.verified.at
            ? `Last verified ${formatAge(lastVerified.verified.at, now)}.`
            : "None of these has been verified."}
        </p>
      )}
      {body && <BackupJobs now={now} />}
      {body && body.backups.length > 0 && (
        <Table label="Backups" columns={COLUMNS}>
          {body.backups.map((backup) => (
            <BackupRow key={backup.id} backup={backup} now={now} onAction={onAction} />
          ))}
        </Table>
      )}
      {body?.backups.length === 0 && <p class="hint">There is no backup yet.</p>}
    </Section>
  );
}

const COLUMNS = [
  "State",
  "Started",
  "Took",
  "Size",
  "Version",
  "Verified",
  "Kept until",
  "Note",
  "",
];

function isGood(state: Backup["verified"]["state"]): boolean {
  return state === "verified" || state === "intact";
}

interface RowProps {
  readonly backup: Backup;
  readonly now: number;
  readonly onAction: (action: Action) => void;
}

function BackupRow({ backup, now, onAction }: RowProps) {
  const { verified } = backup;
  return (
    <tr data-backup={backup.id}>
      <td>
        <StatusPill word={backup.state} />
      </td>
      <td title={backup.started_at ?? ""}>
        {backup.started_at === null ? "–" : formatAge(backup.started_at, now)}
      </td>
      <td class="number">
        {backup.duration_ms === null ? "–" : formatDuration(backup.duration_ms)}
      </td>
      <td class="number">{backup.size_bytes === null ? "–" : formatBytes(backup.size_bytes)}</td>
      <td class="number">{backup.generation ?? "–"}</td>
      <td title={verified.message}>
        <StatusPill word={verified.state} /> {verified.at && formatAge(verified.at, now)}
      </td>
      <td>{keptUntil(backup)}</td>
      <td>{backup.problem ?? backup.note ?? ""}</td>
      <td class="row-actions">
        <button type="button" class="link-button" onClick={() => onAction(verifyBackup(backup.id))}>
          Verify<span class="visually-hidden"> the backup {backup.id}</span>
        </button>
        <button
          type="button"
          class="link-button"
          onClick={() => onAction(pinBackup(backup.id, backup.pinned))}
        >
          {backup.pinned ? "Unpin" : "Pin"}
          <span class="visually-hidden"> the backup {backup.id}</span>
        </button>
        <button
          type="button"
          class="link-button"
          onClick={() => onAction(restoreBackup(backup.id))}
        >
          Restore<span class="visually-hidden"> the backup {backup.id}</span>
        </button>
        <button type="button" class="link-button" onClick={() => onAction(deleteBackup(backup.id))}>
          Delete<span class="visually-hidden"> the backup {backup.id}</span>
        </button>
      </td>
    </tr>
  );
}

function keptUntil({ pinned, expires_at: expiresAt }: Backup): string {
  if (pinned) return "pinned";
  return expiresAt === null ? "–" : formatTime(expiresAt);
}
