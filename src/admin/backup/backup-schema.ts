import { z } from "zod";
import { jobSchema } from "../../backup/job.ts";
import { backupSchema } from "../../backup/listing.ts";

export const jobAnswer = z
  .strictObject({
    disposition: z.enum(["started", "queued", "attached", "unchanged"]).meta({
      description:
        "`attached`: the same job is already queued or running; `unchanged`: the backup is restored, and nothing has been published since.",
    }),
    job: jobSchema,
    message: z.string(),
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
