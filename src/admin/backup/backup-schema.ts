import { z } from "zod";
import { jobSchema } from "../../backup/job.ts";
import { backupSchema } from "../../backup/listing.ts";
import { outcome, pageFields } from "../http/query.ts";

export const jobAnswer = z
  .strictObject({
    ...outcome,
    job: jobSchema.meta({
      description: "The new job, or the one that does or did the same.",
    }),
  })
  .meta({ id: "BackupJobAnswer" });

/** What asking for a backup is answered. */
export const runAnswer = jobAnswer
  .extend({
    backup: backupSchema.nullable().meta({
      description: "As it is now; null while R2 does not answer. The job goes on all the same.",
    }),
  })
  .meta({ id: "BackupRunAnswer" });

/** What changing a backup itself is answered. */
export const backupAnswer = z
  .strictObject({ ...outcome, backup: backupSchema })
  .meta({ id: "BackupAnswer" });

/** A page of backup jobs. */
export const jobPage = z.strictObject({
  jobs: z.array(jobSchema).meta({ description: "Newest first, of the last hundred that ended." }),
  ...pageFields,
});
