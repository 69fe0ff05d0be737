import { isBackup } from "./job.ts";
import { findNewest, listIds, readBackup } from "./read-backups.ts";
import type { StepDependencies } from "./step-dependencies.ts";

export type RemoveResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: "not_found" | "in_use" | "pinned" | "newest" | "newest_verified";
    };

/** Deletes a backup, unless it is in use, pinned, the newest or the newest good one. */
export async function removeBackup(
  { backups, coordinator }: Pick<StepDependencies, "backups" | "coordinator">,
  id: string,
): Promise<RemoveResult> {
  const refuse = (reason: Extract<RemoveResult, { ok: false }>["reason"]): RemoveResult => ({
    ok: false,
    reason,
  });
  const ids = await listIds(backups);
  if (!ids.includes(id)) return refuse("not_found");
  const { whole, good } = await findNewest(backups, ids);
  if (good?.id === id) return refuse("newest_verified");
  if (whole?.id === id) return refuse("newest");
  if ((await readBackup(backups, id)).pinned) return refuse("pinned");
  const open = coordinator.jobs.open().filter(isBackup);
  const isUsed = open.some(({ job }) => job.backup_id === id || job.undo_backup_id === id);
  if (isUsed) return refuse("in_use");
  await backups.deleteBackup(id);
  return { ok: true };
}
