/** Records what a coordinator shows, for the one checker of the invariants. */
import { expect } from "vitest";
import { type Manifest, manifestBlobs } from "../../src/catalog/manifest.ts";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { coordinatorStatus } from "../../src/coordinator/status.ts";
import { blobKey, sourceKey } from "../../src/storage/keys.ts";
import { nothingOperated, type Older } from "../chaos/evidence.ts";
import type { Evidence } from "../chaos/invariants.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";

/** The linter knows `expect` inside of test blocks only. */
const must = expect;

/** Watches a coordinator and its stores. */
export class Recorder {
  readonly operated = nothingOperated();
  /** The highest generations that were ever shown. */
  readonly #highest = { kv: 0, r2: 0, recorded: 0 };
  readonly #world: CoordinatorWorld;
  readonly #older: Older[] = [];
  /** Every manifest that was ever shown, by its JSON. */
  readonly #shown = new Map<string, Manifest>();
  /** Every version, as it was recorded first. */
  readonly #published = new Map<number, Manifest>();

  constructor(world: CoordinatorWorld) {
    this.#world = world;
  }

  /** Looks at everything, and checks that no store lacks what a version names. */
  async observe(): Promise<void> {
    const { coordinator, state, store, archive } = this.#world;
    const status = coordinatorStatus.parse(coordinator.status());
    this.#see("recorded", status.current?.generation ?? 0);
    for (const manifest of state.versions()) {
      if (!this.#published.has(manifest.generation))
        this.#published.set(manifest.generation, manifest);
      this.#shown.set(JSON.stringify(manifest), manifest);
      for (const blob of manifestBlobs(manifest))
        must(store.kv.has(blobKey(blob)) && store.r2.has(blobKey(blob))).toBe(true);
      for (const [file, sha256] of Object.entries(manifest.sources))
        if (file !== "snapshot") must(archive.bucket.files.has(sourceKey(sha256))).toBe(true);
    }
    for (const replica of ["kv", "r2"] as const) {
      const copy = await store.readManifest(replica);
      this.#see(replica, copy.ok ? copy.value.generation : 0);
      if (!copy.ok) continue;
      this.#shown.set(JSON.stringify(copy.value), copy.value);
      for (const blob of manifestBlobs(copy.value))
        must(store[replica].has(blobKey(blob))).toBe(true);
    }
    for (const run of state.runs())
      if (!isOpen(run.state) && run.state !== "skipped" && !this.operated.ends.has(run.id))
        this.operated.ends.set(run.id, run);
  }

  /** Everything that was recorded, and what is stored now. */
  async evidence(): Promise<Evidence> {
    const { state, history, store } = this.#world;
    const manifestOf = async (replica: "kv" | "r2") => {
      const copy = await store.readManifest(replica);
      return copy.ok ? copy.value : null;
    };
    const truth = {
      runs: state.runs(),
      manifests: state.versions().toReversed(),
      outbox: state.history.length,
      auditOutbox: state.audit.length,
      isReplicated: state.unreplicated() === null,
    };
    return {
      served: [],
      shown: this.#shown.values(),
      older: this.#older,
      operated: this.operated,
      state: {
        truth,
        rows: [...history.rows.values()].map(({ run }) => run),
        otherRows: [],
        audit: [],
        backupJobs: [],
        kept: Object.fromEntries(this.#published),
        kv: await manifestOf("kv"),
        r2: await manifestOf("r2"),
      },
      defaultLocales: ["en"],
    };
  }

  #see(where: "kv" | "r2" | "recorded", generation: number): void {
    if (generation < this.#highest[where])
      this.#older.push({ generation, held: [], request: `shown by ${where}` });
    this.#highest[where] = generation;
  }
}
