/** The actions that the audit records, in the dashboard's words. */
const AUDIT_ACTIONS = {
  "alerts.run": "Evaluate the alerts",
  "alerts.test": "Send a test notification",
  "backup.delete": "Delete a backup",
  "backup.pin": "Pin a backup",
  "backup.restore": "Restore a backup",
  "backup.run": "Take a backup",
  "backup.unpin": "Unpin a backup",
  "backup.verify": "Verify a backup",
  "catalog.rollback": "Roll back the catalog",
  "catalog.take_over": "Take over the stores",
  "ingest.approve_held": "Approve held changes",
  "ingest.cancel": "Cancel a run",
  "ingest.pause": "Pause ingestion",
  "ingest.queue": "Queue a run",
  "ingest.reject_held": "Reject held changes",
  "ingest.resume": "Resume ingestion",
  "set_aside.forget": "Delete the list of values set aside",
} as const;

/** Describes an action; an unknown one, of another version of the service, by its name. */
export function actionText(action: string): string {
  const words: { readonly [action: string]: string } = AUDIT_ACTIONS;
  return words[action] ?? action;
}

/** Maximum number of characters of the note with which somebody explains an action. */
export const NOTE_MAX_LENGTH = 500;

export type AuditAction = keyof typeof AUDIT_ACTIONS;
