/** What must hold of a coordinator at any time. */
import { expect } from "vitest";
import { type Manifest, manifestBlobs } from "../../src/catalog/manifest.ts";
import type { Run } from "../../src/coordinator/run.ts";
import { isOpen } from "../../src/coordinator/job-record.ts";
import { coordinatorStatus } from "../../src/coordinator/status.ts";
import { blobKey } from "../../src/storage/keys.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";

/** The linter knows `expect` inside of test blocks only. */
const must = expect;

/** Watches a coordinator and its stores. */
export class Invariants {
  /** Generations that a rollback published. */
  readonly rolledBack = new Set<number>();
  /** When runs were said to start, at the earliest. */
  readonly promised = new Map<string, number>();
  /** The highest generations that were ever there. */
  readonly highest = { kv: 0, r2: 0, recorded: 0 };
  readonly #world: CoordinatorWorld;
  /** Runs that have ended, as they were then. */
  readonly #ended = new Map<string, Run>();
  /** Every version that was ever recorded. */
  readonly #published = new Map<number, Manifest>();

  constructor(world: CoordinatorWorld) {
    this.#world = world;
  }

  /** I1 to I7. */
  async check({ isPaused, pausedThroughout }: { isPaused: boolean; pausedThroughout: boolean }) {
    const world = this.#world;
    const { coordinator } = world;
    const byRuns = this.findPublished().filter((generation) => !this.rolledBack.has(generation));
    must(byRuns.length).toBeLessThanOrEqual(1); // I4: one a step
    if (pausedThroughout) must(byRuns).toEqual([]); // I5

    const recorded = coordinatorStatus.parse(coordinator.status()).current?.generation ?? 0;
    must(recorded).toBeGreaterThanOrEqual(this.highest.recorded); // I2
    this.highest.recorded = recorded;
    for (const replica of ["kv", "r2"] as const) {
      const copy = await world.store.readManifest(replica);
      const served = copy.ok ? copy.value : null;
      must(served?.generation ?? 0).toBeGreaterThanOrEqual(this.highest[replica]); // I2
      this.highest[replica] = served?.generation ?? 0;
      if (served === null) continue;
      must(served).toEqual(this.#published.get(served.generation)); // I1, I7
      for (const blob of manifestBlobs(served))
        must(world.store[replica].has(blobKey(blob))).toBe(true); // I1
    }
    for (const manifest of world.state.versions()) {
      for (const blob of manifestBlobs(manifest))
        must(world.store.kv.has(blobKey(blob)) && world.store.r2.has(blobKey(blob))).toBe(true);
      for (const [file, sha256] of Object.entries(manifest.sources))
        if (file !== "snapshot") must(world.archive.files.has(sha256)).toBe(true);
    }
    this.#checkRuns();
    must(coordinator.status().pause !== null).toBe(isPaused);
    // I6: what is open is held by a pause, or the alarm is set for it.
    const { running, queued } = coordinator.status();
    if ((running !== null || queued.length > 0) && !isPaused) must(world.alarmAt).not.toBeNull();
  }

  /** Generations that were recorded since it was called last. */
  findPublished(): number[] {
    const before = new Set(this.#published.keys());
    for (const manifest of this.#world.state.versions()) {
      must(this.#published.get(manifest.generation) ?? manifest).toEqual(manifest);
      this.#published.set(manifest.generation, manifest);
    }
    return [...this.#published.keys()].filter((generation) => !before.has(generation));
  }

  #checkRuns(): void {
    const publishers = new Map<number, string>();
    for (const run of this.#world.state.runs()) {
      if (run.generation_after !== null) {
        must(publishers.get(run.generation_after)).toBeUndefined(); // I4
        publishers.set(run.generation_after, run.id);
        must(run.state === "running" || run.outcome === "published").toBe(true); // I7
      }
      const begun = Date.parse(run.started_at ?? "");
      must(begun < (this.promised.get(run.id) ?? 0)).toBe(false);
      if (isOpen(run.state) || run.state === "skipped") continue;
      must(this.#ended.get(run.id) ?? run).toEqual(run); // I3: a terminal row never changes
      this.#ended.set(run.id, run);
    }
  }
}
