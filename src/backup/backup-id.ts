import { idOf } from "../catalog/fields.ts";

/** Id of a backup: a UUIDv7 in lower case. Ids sort by time, and no id can be a path. */
export const backupId = idOf("a backup", "/admin/backup/list");

/** Whether a name is the id of a backup. */
export function isBackupId(name: string): boolean {
  return backupId.safeParse(name).success;
}

/** Returns the time of the request for a backup in milliseconds since 1970: the first 48 bits of a UUIDv7. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
