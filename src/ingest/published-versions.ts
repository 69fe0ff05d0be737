import type { Manifest } from "../catalog/manifest.ts";
import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";
import {
  bestCoverage,
  describeVersion,
  isSameContent,
  rolledBack,
  type Version,
} from "./versions.ts";

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

/** The versions that were published and are retained. */
export class PublishedVersions {
  readonly #deps: Pick<CoordinatorDependencies, "state" | "now">;

  constructor(deps: Pick<CoordinatorDependencies, "state" | "now">) {
    this.#deps = deps;
  }

  /**
   * Records a retained version once more, under a new generation, unless what it says is published
   * already: a call that is repeated changes nothing.
   */
  rollBack(generation: number): RollbackResult {
    const { state, now } = this.#deps;
    return state.transaction((): RollbackResult => {
      const current = state.currentVersion();
      const earlier = state.findVersion(generation);
      if (current === null || earlier === undefined) return { ok: false, reason: "not_retained" };
      const changed = !isSameContent(earlier, current);
      const at = new Date(now()).toISOString();
      const manifest = changed ? rolledBack(earlier, current, at) : current;
      if (changed) state.addVersion(manifest);
      const version = describeVersion(manifest, manifest.generation);
      return { ok: true, version, changed, paused: state.pause() !== null };
    });
  }

  /** The newest first. */
  list(): Version[] {
    const versions = this.#deps.state.versions();
    const current = versions[0]?.generation ?? 0;
    return versions.map((manifest) => describeVersion(manifest, current));
  }

  /** The manifest of a version, or null. */
  find(generation: number): Manifest | null {
    return this.#deps.state.findVersion(generation) ?? null;
  }

  /** The highest coverage (0 to 1) of each locale. */
  bestCoverage(): { readonly [locale: string]: number } {
    return bestCoverage(this.#deps.state.versions());
  }
}
