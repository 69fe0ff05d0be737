import { checkCatalog, checkObjects, checkParts, rebuild } from "./check-steps.ts";
import { copyObjects, copyState, copyTables, writeManifest } from "./copy-steps.ts";
import type { BackupStage, StepContext, StepResult } from "./job.ts";
import {
  compareSchema,
  replaceVersions,
  restoreObjects,
  restoreTables,
  settle,
} from "./restore-steps.ts";
import { retain } from "./retain-step.ts";
import type { StepDependencies } from "./step-dependencies.ts";

/** Takes a step of each stage. Idempotent. Throws if a store fails. */
export const STEPS: {
  readonly [P in BackupStage]: (
    deps: StepDependencies,
    context: StepContext,
  ) => Promise<StepResult>;
} = {
  copy_state: copyState,
  copy_tables: copyTables,
  copy_objects: copyObjects,
  write_manifest: writeManifest,
  check_parts: checkParts,
  check_objects: checkObjects,
  check_catalog: checkCatalog,
  rebuild,
  retention: retain,
  compare_schema: compareSchema,
  restore_objects: restoreObjects,
  restore_tables: restoreTables,
  replace_versions: replaceVersions,
  settle,
};
