import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "../../src/catalog/manifest.ts";
import { MANIFEST_KEY } from "../../src/storage/keys.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";
import { sealedBytes } from "./memory-catalog-store.ts";

/** How late a store may carry out what it seemed to refuse. */
export const LATE_MS = 59_000;

interface LateWrite {
  readonly at: number;
  readonly into: "kv" | "r2";
  readonly manifest: Manifest;
  /** What the store showed at the call, in place of which alone R2 takes the manifest. */
  readonly over: Uint8Array | undefined;
}

/** Manifests that stores were asked to write, seemed to refuse, and write later. */
export class LateWrites {
  /** What was written late. */
  readonly done: LateWrite[] = [];
  readonly #world: CoordinatorWorld;
  readonly #highest: { kv: number; r2: number };
  #waiting: LateWrite[] = [];

  /** @param highest the generations that the stores must not fall below, unless one is late. */
  constructor(world: CoordinatorWorld, highest: { kv: number; r2: number }) {
    this.#world = world;
    this.#highest = highest;
  }

  /** Remembers a call that is not answered, if it writes the manifest. */
  mayCome(call: string): void {
    const { state, store, time } = this.#world;
    const [, into] = /^(kv|r2) put catalog\/manifest$/.exec(call) ?? [];
    if (into !== "kv" && into !== "r2") return;
    const manifest = state.unreplicated() ?? state.currentVersion();
    if (manifest === null) throw new Error(`nothing is published, and yet: ${call}`);
    this.#waiting.push({ at: time + LATE_MS, into, manifest, over: store[into].get(MANIFEST_KEY) });
  }

  /** Lets time pass, and stores do what is due by then. */
  passTo(time: number): void {
    this.#world.time = time;
    const due = this.#waiting.filter(({ at }) => at <= time);
    this.#waiting = this.#waiting.filter(({ at }) => at > time);
    for (const write of due) {
      const { into, manifest, over } = write;
      const { state, store } = this.#world;
      if (into === "r2" && !isDeepStrictEqual(store.r2.get(MANIFEST_KEY), over)) continue;
      if (into === "kv") store.kv.set(MANIFEST_KEY, sealedBytes(manifest));
      else
        store.bucket.lay(MANIFEST_KEY, sealedBytes(manifest), {
          customMetadata: { owner: state.claim.owner },
        });
      this.#highest[into] = manifest.generation;
      this.done.push(write);
    }
  }
}
