import { manifestBlobs } from "../catalog/manifest.ts";
import { isRun } from "./run-queue.ts";
import { unnamedSources, unretained } from "./versions.ts";
import type { Change, Verdict, Work } from "./engine.ts";
import { endRecord, type Job, type JobRecord, newRecord, isOpen } from "./job-record.ts";
import { hasElapsed } from "../storage/elapsed.ts";
import { timeText } from "../storage/time-text.ts";
import type { CoordinatorDependencies } from "./dependencies.ts";

/** Age from which an unreferenced file is garbage. */
const GARBAGE_AGE_MS = 24 * 60 * 60 * 1000;
const COLLECTION_INTERVAL_MS = 60 * 60 * 1000;
/** Deletions of each kind in one step. */
const BATCH = 100;

/** Name of the work that collects garbage. */
export const GARBAGE = "garbage";

type GarbageDependencies = Pick<CoordinatorDependencies, "state" | "store" | "archive" | "now">;
type Kind = "blob" | "source" | "manifest";
/** A collection, with its deletions so far. */
interface Collection extends Job {
  readonly deleted: { readonly [K in Kind]: number };
}
type GarbageRecord = JobRecord<Collection, null>;

/**
 * Deletes blobs, upstream files and manifests that nothing has referenced for a day. It lists R2
 * itself, and so misses no file, whoever stored it.
 *
 * Accepted race: a store may carry out a deletion up to a minute late, and delete a file that was
 * stored again under the same name. Readers then use the other copy, and an alert reports it.
 */
export class GarbageCollector implements Work<GarbageRecord> {
  readonly #deps: GarbageDependencies;

  constructor(deps: GarbageDependencies) {
    this.#deps = deps;
  }

  /** Queues a collection, at most once an hour. */
  enqueue(id: string): void {
    const { state, now } = this.#deps;
    const [newest] = state.jobs.newest(GARBAGE, 1);
    if (newest !== undefined) {
      const { state: at, queued_at } = newest.job;
      if (isOpen(at) || !hasElapsed(Date.parse(queued_at), COLLECTION_INTERVAL_MS, now())) return;
    }
    const job: Collection = {
      id,
      state: "queued",
      stage: null,
      queued_at: timeText(now()),
      started_at: null,
      heartbeat_at: null,
      finished_at: null,
      duration_ms: null,
      deleted: { blob: 0, source: 0, manifest: 0 },
    };
    state.save(newRecord({ work: GARBAGE, job, checkpoint: null, isListed: false }));
  }

  stageOf(): string {
    return "collect";
  }

  async step(): Promise<Change<GarbageRecord>> {
    const { state, store, archive } = this.#deps;
    // Without a version everything would be garbage. The reconciler adopts those of the stores. A run
    // has stored blobs that no version references yet, and a pause may stop it for days.
    const isKnown = state.currentVersion() !== null && state.unreplicated() === null;
    const mayCollect = isKnown && !state.queue().running.some(isRun);
    const garbage = mayCollect ? await this.#findGarbage() : [];
    const blob = await remove(garbage, "blob", (names) => store.deleteBlobs(names));
    const source = await remove(garbage, "source", (names) => archive.delete(names));
    const manifest = await remove(garbage, "manifest", (names) =>
      store.deleteGenerations(names.map(Number)),
    );
    const isDone = blob + source + manifest === garbage.length;
    return (record) => {
      const { deleted: before } = record.job;
      const deleted = {
        blob: before.blob + blob,
        source: before.source + source,
        manifest: before.manifest + manifest,
      };
      const next = { ...record, job: { ...record.job, deleted } };
      return isDone ? this.#end(next, "succeeded") : next;
    };
  }

  /** The next collection finds what this one leaves. */
  async faulted(): Promise<Verdict<GarbageRecord>> {
    return { code: "store_fault", repeat: false, change: (record) => this.#end(record, "failed") };
  }

  describe({ id, deleted }: Collection) {
    return { job_id: id, deleted };
  }

  /** Lists the garbage as `<kind> <name>`. */
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
      return state.markGarbage(unnamed, now(), GARBAGE_AGE_MS);
    });
  }

  #end(record: GarbageRecord, state: "succeeded" | "failed"): GarbageRecord {
    return endRecord(record, { state, at: timeText(this.#deps.now()) });
  }
}

/** Deletes up to `BATCH` pieces of garbage of one kind. Returns their number. */
async function remove(
  garbage: readonly string[],
  kind: Kind,
  deleteAll: (names: readonly string[]) => Promise<void>,
): Promise<number> {
  const prefix = `${kind} `;
  const names = garbage.filter((each) => each.startsWith(prefix));
  const some = names.slice(0, BATCH).map((each) => each.slice(prefix.length));
  await deleteAll(some);
  return some.length;
}
