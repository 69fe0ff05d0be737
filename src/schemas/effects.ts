/** The effects of operators' changes, in the words of the OpenAPI document and the dialogs. */
export const EFFECTS = {
  pause:
    "No ingest run starts or records a version until the pause ends. The published catalog is still served. The run in progress stops after its present step, and continues after the pause; one that has recorded its version ends as usual.",
  makeBackup:
    "Stores the history, the coordinator’s state and every retained version in R2. The next job verifies it.",
  verifyBackup:
    "Reads everything back, hashes and decodes it, and checks that the blobs make up the published catalog.",
  restoreBackup:
    "Backs up the present state, so that the restore can be undone; then verifies the backup, adds what the history lacks, publishes its catalog under a new generation, and verifies the new backup. Ingestion is paused until you resume it, and a run that a pause was holding is cancelled. The audit stays as it is.",
} as const;
