import { GENERATIONS_PREFIX, MANIFEST_KEY } from "../../src/storage/keys.ts";
import type { CoordinatorWorld } from "./coordinator-world.ts";
import { sealedBytes } from "./memory-catalog-store.ts";

/** How late a store may carry out what it seemed to refuse. */
export const LATE_MS = 59_000;

interface LateWrite {
  readonly at: number;
  readonly into: "kv" | "r2";
  readonly generation: number;
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
    const { calls, time } = this.#world;
    const [, into] = /^(kv|r2) put catalog\/manifest$/.exec(call) ?? [];
    if (into !== "kv" && into !== "r2") return;
    const prefix = `r2 put ${GENERATIONS_PREFIX}`;
    const written = calls.findLast((made) => made.startsWith(prefix));
    const generation = Number(written?.slice(prefix.length));
    this.#waiting.push({ at: time + LATE_MS, into, generation });
  }

  /** Lets time pass, and stores do what is due by then. */
  passTo(time: number): void {
    this.#world.time = time;
    const due = this.#waiting.filter(({ at }) => at <= time);
    this.#waiting = this.#waiting.filter(({ at }) => at > time);
    for (const write of due) {
      const manifest = this.#world.state.findVersion(write.generation);
      if (manifest === undefined) continue;
      this.#world.store[write.into].set(MANIFEST_KEY, sealedBytes(manifest));
      this.#highest[write.into] = write.generation;
      this.done.push(write);
    }
  }
}
