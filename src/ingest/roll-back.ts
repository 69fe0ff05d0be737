import type { CoordinatorState } from "./coordinator-state.ts";
import { describeVersion, isSameContent, rolledBack, type Version } from "./versions.ts";

export type RollbackResult =
  | {
      readonly ok: true;
      readonly version: Version;
      /** False if the current version, which is the answer then, has that content already. */
      readonly changed: boolean;
      /** Whether ingestion is paused: a rollback publishes all the same. */
      readonly paused: boolean;
    }
  | { readonly ok: false; readonly reason: "not_retained" };

/**
 * Records a retained version once more, under a new generation, unless what it says is published
 * already: a call that is repeated changes nothing.
 *
 * @param at when it is published (RFC 3339).
 */
export function rollBack(state: CoordinatorState, generation: number, at: string): RollbackResult {
  return state.transaction((): RollbackResult => {
    const current = state.currentVersion();
    const earlier = state.findVersion(generation);
    if (current === null || earlier === undefined) return { ok: false, reason: "not_retained" };
    const changed = !isSameContent(earlier, current);
    const manifest = changed ? rolledBack(earlier, current, at) : current;
    if (changed) state.addVersion(manifest);
    const version = describeVersion(manifest, manifest.generation);
    return { ok: true, version, changed, paused: state.pause() !== null };
  });
}
