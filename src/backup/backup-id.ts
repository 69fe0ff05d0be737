import { z } from "zod";

/**
 * The id of a backup: a UUIDv7 in lower case, so that ids sort by time and no id can be a path.
 * Anything else (`..`, slashes, percent signs, NUL, other lengths) is refused.
 */
export const backupId = z
  .uuidv7()
  .lowercase()
  .describe("Id of a backup: a UUIDv7 in lower case, as GET /admin/backup/list gives it");

/** Whether a name is the id of a backup. */
export function isBackupId(name: string): boolean {
  return backupId.safeParse(name).success;
}

/** When the backup was begun, in milliseconds since 1970: the first 48 bits of a UUIDv7. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
