import { manifestBlobs } from "../catalog/manifest.ts";
import type { CoordinatorDependencies } from "../ingest/coordinator-dependencies.ts";
import { unnamedSources, unretained } from "../ingest/versions.ts";
import { describeError } from "../log.ts";

/** What nothing has named for this time is garbage. */
const GARBAGE_AGE_MS = 24 * 60 * 60 * 1000;
/** How often to look for it. */
const COLLECT_EVERY_MS = 60 * 60 * 1000;
/** Blobs, upstream files and manifests, of each so many, that are deleted at a time. */
const BATCH = 100;

type GarbageDependencies = Pick<
  CoordinatorDependencies,
  "state" | "store" | "archive" | "now" | "log"
>;
type Kind = "blob" | "source" | "manifest";

/**
 * Deletes blobs, upstream files and manifests that nothing has named for a day. R2 says what there
 * is, so that nothing is missed, whoever stored it.
 *
 * Accepted race: a deletion that a store carries out late may take away what was stored anew under
 * the same name within that minute. Readers then use the other copy, and the alerts say so.
 */
export class GarbageCollector {
  readonly #deps: GarbageDependencies;

  constructor(deps: GarbageDependencies) {
    this.#deps = deps;
  }

  /**
   * Looks for garbage, at most once an hour, and deletes some of it. To be called only while neither
   * a run nor a job is under way: they store what no version names yet. Never throws.
   */
  async collect(): Promise<void> {
    const { state, now, log } = this.#deps;
    if (now() - state.collectedAt() < COLLECT_EVERY_MS || state.unreplicated() !== null) return;
    try {
      const old = await this.#findGarbage();
      const deleted = {
        blobs: await this.#delete(old, "blob", (names) => this.#deps.store.deleteBlobs(names)),
        sources: await this.#delete(old, "source", (names) => this.#deps.archive.delete(names)),
        generations: await this.#delete(old, "manifest", (names) =>
          this.#deps.store.deleteGenerations(names.map(Number)),
        ),
      };
      const count = deleted.blobs + deleted.sources + deleted.generations;
      if (count > 0) log("info", "garbage_collected", deleted);
      if (count === old.length) state.setCollectedAt(now());
    } catch (cause) {
      log("warn", "garbage_refused", describeError(cause));
    }
  }

  /** What is garbage, as `<kind> <name>`. */
  async #findGarbage(): Promise<string[]> {
    const { state, store, archive, now } = this.#deps;
    const [blobs, sources, generations] = [
      await store.listBlobs(),
      await archive.list(),
      await store.listGenerations(),
    ];
    return state.transaction(() => {
      const retained = state.versions();
      const named = new Set(retained.flatMap((manifest) => [...manifestBlobs(manifest)]));
      const unnamed = [
        ...blobs.filter((sha256) => !named.has(sha256)).map((sha256) => `blob ${sha256}`),
        ...unnamedSources(sources, retained, state.neededFiles()).map((name) => `source ${name}`),
        ...unretained(generations, retained).map((generation) => `manifest ${generation}`),
      ];
      return state.ageGarbage(unnamed, now(), GARBAGE_AGE_MS);
    });
  }

  async #delete(
    garbage: readonly string[],
    kind: Kind,
    remove: (names: readonly string[]) => Promise<void>,
  ): Promise<number> {
    const prefix = `${kind} `;
    const names = garbage.flatMap((each) =>
      each.startsWith(prefix) ? [each.slice(prefix.length)] : [],
    );
    const some = names.slice(0, BATCH);
    await remove(some);
    return some.length;
  }
}
