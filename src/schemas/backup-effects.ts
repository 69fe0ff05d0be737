/** What the jobs with a backup do, as the OpenAPI document and the dialogs say it. */
export const BACKUP_EFFECTS = {
  run: "Stores the history, the coordinator’s state and every retained version in R2. The next job verifies it.",
  verify:
    "Reads everything back, hashes and decodes it, and checks that the blobs make up the published catalog.",
  restore:
    "Backs up the present state, so that the restore can be undone; then verifies the backup, adds what the history lacks, publishes its catalog under a new generation, and verifies the new backup. The audit stays as it is.",
} as const;
