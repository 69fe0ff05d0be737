import type { StepDependencies } from "../../src/backup/job.ts";
import type { CoordinatorDependencies } from "../../src/coordinator/dependencies.ts";
import { createBackupStore } from "../../src/storage/backup-store.ts";
import { createDatabaseCopy } from "../../src/storage/database-copy.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";
import { MemoryBucket } from "./memory-bucket.ts";
import { MemoryD1 } from "./memory-d1.ts";

/** What backups of an instance work with: a bucket and a database of their own. */
export function backupDependencies(
  world: CoordinatorWorld,
  { state, ...deps }: CoordinatorDependencies,
): StepDependencies {
  return {
    ...deps,
    backups: createBackupStore(new MemoryBucket(() => world.time).binding),
    database: createDatabaseCopy(new MemoryD1().binding),
    coordinator: state,
    catalog: world.store,
    archive: world.archive,
    snapshot: world.snapshot,
  };
}
