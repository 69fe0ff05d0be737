import { describeError } from "../log.ts";
import type { CoordinatorDependencies } from "./coordinator-dependencies.ts";
import { heal, replicate } from "./publisher.ts";
import { nextToStep } from "./queue.ts";
import type { Stage } from "./run.ts";
import { unnamedBlobs, unnamedSources, unretained } from "./versions.ts";

/** Blobs, upstream files and manifests, of each so many, that are deleted in one alarm. */
const GARBAGE_BATCH = 100;
/** After a store refused, how long to leave it alone. */
const STORE_RETRY_MS = 30_000;
/** After a deletion failed, how long what it had asked for may still be carried out. */
const LATE_DELETION_MS = 60_000;
/** Longest that the calls of one deletion may take together. */
const DELETION_MAX_MS = 150_000;
/**
 * After a manifest could not be written, when to look whether it has come after a newer one: it may
 * be a minute late, and KV's cache may hide it for another.
 */
const LOOK_AGAIN_MS = 120_000;
/** The stages that bring the stores to a manifest, or look whether they show it. */
const WRITES_MANIFEST: ReadonlySet<Stage> = new Set(["build", "publish", "verify"]);

type UpkeepDependencies = Pick<
  CoordinatorDependencies,
  "state" | "store" | "archive" | "now" | "log"
>;

/** What no retained version needs. */
interface Garbage {
  readonly blobs: readonly string[];
  readonly sources: readonly string[];
  readonly generations: readonly number[];
}

/** Brings the stores to the version that is recorded as published, and clears up after it. */
export class StoreUpkeep {
  readonly #deps: UpkeepDependencies;
  /** Not before this time are the stores tried again. */
  #retryAt = 0;
  #hasMoreGarbage = false;
  /** Whether R2 has been looked through since something may have become garbage. */
  #isSwept = false;
  /** Whether a deletion is under way. */
  #isDeleting = false;
  /** Until when what a deletion had asked for may be carried out after it has failed. */
  #lateUntil: number;

  constructor(deps: UpkeepDependencies) {
    this.#deps = deps;
    const { state, now } = deps;
    // Of an instance that died only the calls are left that it had sent.
    this.#lateUntil = Math.min(state.deletingUntil() ?? 0, now() + LATE_DELETION_MS);
    if (state.unreplicated() !== null) this.#expectLateManifest();
  }

  /** To be called when another version is to be shown: it is due at once. */
  versionsChanged(): void {
    this.#retryAt = 0;
    this.lookForGarbage();
  }

  /** To be called when there may be garbage that there was not before. */
  lookForGarbage(): void {
    this.#isSwept = false;
  }

  /** To be called when a store has failed a step of a run. */
  storeFailed(stage: Stage): void {
    if (WRITES_MANIFEST.has(stage)) this.#expectLateManifest();
  }

  /** Whether what is stored now under a name that no version has might be deleted yet. */
  isDeleting(): boolean {
    return this.#isDeleting || this.#deps.now() < this.#lateUntil;
  }

  /**
   * When that is over (milliseconds since 1970), or was: no run may begin before. One that is under
   * way is not counted: it ends in its alarm, which then goes on with what waits.
   */
  quietAt(): number {
    return this.#lateUntil;
  }

  /** When something is due next (milliseconds since 1970); null if nothing is. */
  dueAt(): number | null {
    const isDue = this.#mayReplicate() || (this.#hasMoreGarbage && this.#mayCollect());
    const times = [isDue ? this.#retryAt : null, this.#lookAt()].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Brings the stores to the version that was recorded last. Never throws. */
  async replicate(): Promise<void> {
    const { state, store, now, log } = this.#deps;
    const manifest = state.unreplicated();
    if (manifest === null || !this.#mayReplicate() || now() < this.#retryAt) return;
    try {
      await replicate(store, manifest);
      state.setReplicated(manifest.generation);
    } catch (cause) {
      this.#retryAt = now() + STORE_RETRY_MS;
      this.#expectLateManifest();
      const { generation } = manifest;
      log("warn", "replication_failed", { generation, ...describeError(cause) });
    }
  }

  /**
   * Looks once whether a manifest that could not be written in time has come after a newer one, and
   * if so brings the stores to that one again. Never throws.
   */
  async lookAgain(): Promise<void> {
    const { state, store, now, log } = this.#deps;
    const at = this.#lookAt();
    const manifest = state.currentVersion();
    if (at === null || now() < at) return;
    if (manifest === null) return state.setLookAgainAt(null);
    const { generation } = manifest;
    try {
      const isHealed = await heal(store, manifest);
      if (isHealed) log("warn", "late_manifest_replaced", { generation });
      if (state.lookAgainAt() === at) state.setLookAgainAt(null);
    } catch (cause) {
      this.#expectLateManifest();
      log("warn", "replication_failed", { generation, ...describeError(cause) });
    }
  }

  /**
   * Deletes some of what no retained version names. Only between runs, since a run has stored what
   * no version names yet, and not while one waits until the last deletion is over. Never throws.
   */
  async collectGarbage(): Promise<void> {
    const { now, log } = this.#deps;
    if (this.#isDeleting || !this.#mayCollect() || now() < this.#retryAt) return;
    try {
      const found = await this.#findGarbage();
      // What was said of the stores may have changed while R2 was looked through.
      if (!this.#mayCollect()) return;
      this.#isSwept = true;
      this.#hasMoreGarbage = sizeOf(found) > 0;
      if (!this.#hasMoreGarbage) return;
      const some = firstOf(found);
      await this.#delete(some);
      const counts = Object.fromEntries(
        Object.entries(some).map(([kind, names]) => [kind, names.length]),
      );
      log("info", "garbage_collected", counts);
      this.#hasMoreGarbage = sizeOf(found) > sizeOf(some);
      this.#isSwept = !this.#hasMoreGarbage;
    } catch (cause) {
      this.#hasMoreGarbage = true;
      this.#isSwept = false;
      this.#retryAt = now() + STORE_RETRY_MS;
      log("warn", "garbage_refused", describeError(cause));
    }
  }

  async #findGarbage(): Promise<Garbage> {
    const { state, store, archive } = this.#deps;
    const [sources, generations] = this.#isSwept
      ? [[], []]
      : await Promise.all([archive.list(), store.listGenerations()]);
    const retained = state.versions();
    return {
      blobs: unnamedBlobs(state.blobs(), retained),
      sources: unnamedSources(sources, retained, state.neededFiles()),
      generations: unretained(generations, retained),
    };
  }

  async #delete({ blobs, sources, generations }: Garbage): Promise<void> {
    const { state, store, archive, now } = this.#deps;
    this.#isDeleting = true;
    state.setDeletingUntil(now() + DELETION_MAX_MS + LATE_DELETION_MS);
    try {
      await store.deleteBlobs(blobs);
      state.removeBlobs(blobs);
      await archive.delete(sources);
      await store.deleteGenerations(generations);
    } catch (cause) {
      this.#lateUntil = now() + LATE_DELETION_MS;
      throw cause;
    } finally {
      this.#isDeleting = false;
      state.setDeletingUntil(this.#lateUntil > now() ? this.#lateUntil : null);
    }
  }

  #expectLateManifest(): void {
    const { state, now } = this.#deps;
    state.setLookAgainAt(now() + LOOK_AGAIN_MS);
  }

  /** When to look again; null while the stores are yet to be brought to a version: not before that. */
  #lookAt(): number | null {
    const { state } = this.#deps;
    return state.unreplicated() === null ? state.lookAgainAt() : null;
  }

  /** A run that verifies brings the stores to the version itself. */
  #mayReplicate(): boolean {
    const { state } = this.#deps;
    return state.unreplicated() !== null && state.queue().running?.checkpoint.stage !== "verify";
  }

  #mayCollect(): boolean {
    const { state, now } = this.#deps;
    const isIdle = state.queue().running === undefined && state.holdAt(now()) === null;
    return state.unreplicated() === null && isIdle && !this.#isAwaited();
  }

  /** Whether a run waits for the end of deletions: another one would let it wait again. */
  #isAwaited(): boolean {
    const { state, now } = this.#deps;
    const view = state.queue();
    return this.isDeleting() && nextToStep(view, { now: now(), mayBegin: true }) !== undefined;
  }
}

function sizeOf({ blobs, sources, generations }: Garbage): number {
  return blobs.length + sources.length + generations.length;
}

function firstOf({ blobs, sources, generations }: Garbage): Garbage {
  return {
    blobs: blobs.slice(0, GARBAGE_BATCH),
    sources: sources.slice(0, GARBAGE_BATCH),
    generations: generations.slice(0, GARBAGE_BATCH),
  };
}
