import { manifestBlobs } from "../catalog/manifest.ts";
import { isRun } from "../ingest/run-record.ts";
import { unnamedSources, unretained } from "../ingest/versions.ts";
import type { Change, Verdict, Work } from "../jobs/engine.ts";
import { endRecord, type Job, type JobRecord, newRecord } from "../jobs/job-record.ts";
import { timeText } from "../storage/time-text.ts";
import type { CoordinatorDependencies } from "./dependencies.ts";

/** What nothing has named for this time is garbage. */
const GARBAGE_AGE_MS = 24 * 60 * 60 * 1000;
/** How often to look for it. */
const COLLECT_EVERY_MS = 60 * 60 * 1000;
/** Blobs, upstream files and manifests, of each so many, that are deleted at a time. */
const BATCH = 100;

/** Name of the work that collects garbage. */
export const GARBAGE = "garbage";

type GarbageDependencies = Pick<CoordinatorDependencies, "state" | "store" | "archive" | "now">;
type Kind = "blob" | "source" | "manifest";
/** A collection, and how much it has deleted so far. */
interface Collection extends Job {
  readonly deleted: { readonly [K in Kind]: number };
}
type GarbageRecord = JobRecord<Collection, null>;

/**
 * Deletes blobs, upstream files and manifests that nothing has named for a day. R2 says what there
 * is, so that nothing is missed, whoever stored it.
 *
 * Accepted race: a deletion that a store carries out late may take away what was stored anew under
 * the same name within that minute. Readers then use the other copy, and the alerts say so.
 */
export class GarbageCollector implements Work<GarbageRecord> {
  readonly #deps: GarbageDependencies;

  constructor(deps: GarbageDependencies) {
    this.#deps = deps;
  }

  /** Queues a collection, once an hour. */
  enqueue(id: string): void {
    const { state, now } = this.#deps;
    const [newest] = state.jobs.newest(GARBAGE, 1);
    const queuedAt = Date.parse(newest?.job.queued_at ?? "");
    // A clock that was set back must not stop the collection.
    if (Math.abs(now() - queuedAt) < COLLECT_EVERY_MS) return;
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
    const { state } = this.#deps;
    // A run that a pause holds has stored what no version names yet, and may be held for days.
    const mayCollect = state.unreplicated() === null && !state.queue().running.some(isRun);
    const garbage = mayCollect ? await this.#findGarbage() : [];
    const { store, archive } = this.#deps;
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

  #end(record: GarbageRecord, state: "succeeded" | "failed"): GarbageRecord {
    return endRecord(record, { state, at: timeText(this.#deps.now()) });
  }
}

/** Deletes some garbage of one kind; how much. */
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
