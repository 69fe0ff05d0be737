import type { CoordinatorState } from "./state.ts";
import { describeVersion, isSameContent, rolledBack, type Version } from "./versions.ts";

export type RollbackResult =
  | {
      readonly ok: true;
      readonly version: Version;
      /** False if the current version, which is then `version`, has that content already. */
      readonly changed: boolean;
      /** Whether ingestion is paused. A rollback publishes even then. */
      readonly paused: boolean;
    }
  | { readonly ok: false; readonly reason: "not_retained" };

/**
 * Publishes a retained version again under a new generation, unless its content is published
 * already. Idempotent.
 *
 * @param at publication time (RFC 3339).
 */
export function rollBack(state: CoordinatorState, generation: number, at: string): RollbackResult {
  return state.transaction((): RollbackResult => {
    const current = state.currentVersion();
    const earlier = state.findVersion(generation);
    if (current === null || earlier === undefined) return { ok: false, reason: "not_retained" };
    const changed = !isSameContent(earlier, current);
    const manifest = changed ? rolledBack(earlier, current, at) : current;
    if (changed) state.addVersion(manifest);
    const version = describeVersion(manifest, state.versions());
    return { ok: true, version, changed, paused: state.pause() !== null };
  });
}
