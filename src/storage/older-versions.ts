import type { Manifest } from "../parts/manifest.ts";
import type { ReaderDependencies } from "./catalog-reader.ts";
import type { Copy, CopyFault } from "./catalog-store.ts";
import { withDeadline } from "../platform/deadline.ts";
import { isRecent } from "../platform/time.ts";
import { SingleFlight } from "../platform/once.ts";
import type { EpochMs } from "../platform/units.ts";
import { type StoreReads, worstFault } from "./store-reads.ts";

/** Maximum number of older manifests in memory: as many as there are retained versions. */
const OLDER_MAX = 20;
const LISTED_FOR_MS = 1_000;
const LIST_DEADLINE_MS = 3_000;

const NO_VERSION: CopyFault = { ok: false, fault: "missing", detail: "there is no such version" };

/** Earlier manifests, for reads of a pinned version and for diffs. */
export class OlderVersions {
  readonly #deps: ReaderDependencies;
  readonly #reads: StoreReads;
  readonly #lists: SingleFlight<Copy<readonly number[]>>;
  readonly #loads: SingleFlight<Copy<Manifest>>;
  readonly #cached = new Map<number, Manifest>();
  #listed: { readonly copy: Copy<readonly number[]>; readonly at: EpochMs } | undefined;

  constructor(deps: ReaderDependencies, reads: StoreReads) {
    this.#deps = deps;
    this.#reads = reads;
    this.#lists = new SingleFlight(deps.waitUntil, deps.now);
    this.#loads = new SingleFlight(deps.waitUntil, deps.now);
  }

  keep(manifest: Manifest): void {
    this.#cached.set(manifest.generation, manifest);
    if (this.#cached.size > OLDER_MAX) this.#cached.delete(Math.min(...this.#cached.keys()));
  }

  /** Finds a version other than `current`, in memory or in R2, which has every retained one. */
  async find(
    isWanted: (manifest: Manifest) => boolean,
    current: Manifest | undefined,
  ): Promise<Copy<Manifest>> {
    const cached = [...this.#cached.values()].find(isWanted);
    if (cached !== undefined) return { ok: true, value: cached };
    const listed = await this.#list();
    if (!listed.ok) return listed;
    const others = listed.value.filter((generation) => generation !== current?.generation);
    const copies = await Promise.all(others.map((generation) => this.#load(generation)));
    const wanted = copies.find((copy) => copy.ok && isWanted(copy.value));
    return wanted ?? worstFault(copies) ?? NO_VERSION;
  }

  /** Whether R2 lists a generation. True also if it cannot say. */
  async isListed(generation: number): Promise<boolean> {
    const listed = await this.#list();
    return !listed.ok || listed.value.includes(generation);
  }

  /** Lists the generations in R2, at most once a second. */
  async #list(): Promise<Copy<readonly number[]>> {
    const last = this.#listed;
    if (last !== undefined && isRecent(last.at, LISTED_FOR_MS, this.#deps.now())) return last.copy;
    return this.#lists.load("generations", async () => {
      const { now, store } = this.#deps;
      const copy = await this.#reads.readR2({
        what: "generations",
        key: "all",
        read: async () => {
          try {
            const listing = store.listGenerations();
            return {
              ok: true,
              value: await withDeadline("generations", LIST_DEADLINE_MS, listing),
            };
          } catch (error) {
            return { ok: false, fault: "unreadable", detail: String(error) };
          }
        },
      });
      this.#listed = { copy, at: now() };
      return copy;
    });
  }

  async #load(generation: number): Promise<Copy<Manifest>> {
    const cached = this.#cached.get(generation);
    if (cached !== undefined) return { ok: true, value: cached };
    const key = String(generation);
    return this.#loads.load(key, async () => {
      const read = () => this.#deps.store.readGeneration(generation);
      const copy = await this.#reads.readR2({ what: "generation", key, read });
      if (copy.ok) this.keep(copy.value);
      return copy;
    });
  }
}
