import type { Manifest } from "../catalog/manifest.ts";
import type { CurrentResult, ReaderDependencies } from "./catalog-reader.ts";
import { settledWithin, withDeadline } from "./deadline.ts";
import type { CatalogCopies, Copy, Fault } from "./catalog-store.ts";
import { type HedgedReads, worstFault } from "./hedged-reads.ts";
import { NegativeCache } from "./negative-cache.ts";
import { SingleFlight } from "./single-flight.ts";

/**
 * How long the manifest is still served at once after it is no longer fresh, while a look-up runs in
 * the background. A busy isolate looks within this time; an isolate that slept longer waits. KV
 * itself may answer with a manifest that is this old.
 */
const STALE_FOR_MS = 30_000;
/** Longest wait for a look-up while an older manifest is in memory. R2 is read within this time. */
const PATIENCE_MS = 1_000;
/** Older manifests in memory, for fallbacks and for reads of a pinned version. All that are retained. */
const OLDER_MAX = 20;
/** Wait after a failed look-up, while the cached manifest is served. */
const RETRY_AFTER_MS = 5_000;
/** Wait after a look-up that found no manifest, and between looks for newer and older ones. */
const ABSENT_FOR_MS = 1_000;

/** Longest wait for the list of generations. */
const LIST_DEADLINE_MS = 3_000;

const NO_VERSION: Fault = { ok: false, fault: "missing", detail: "there is no such version" };

/**
 * The manifests that this isolate serves from: the current one, and older ones for fallbacks and for
 * reads of a pinned version.
 *
 * Accepted race: KV may answer with an older manifest than it gives another data center. An isolate
 * ignores generations below its own, so the version that it serves never goes back.
 */
export class ManifestMemo {
  readonly #deps: ReaderDependencies;
  readonly #reads: HedgedReads;
  readonly #loads: SingleFlight<CurrentResult>;
  readonly #generations: SingleFlight<Copy<Manifest>>;
  readonly #lists: SingleFlight<Copy<readonly number[]>>;
  /** Generations that could not be read. */
  readonly #failures: NegativeCache<Copy<Manifest>>;
  #current: CurrentResult = { ok: false, reason: "unavailable" };
  #previous: Manifest | undefined;
  /** By generation. */
  readonly #older = new Map<number, Manifest>();
  #freshUntil = 0;
  #newestAt = 0;
  #listed: { readonly copy: Copy<readonly number[]>; readonly until: number } | undefined;

  constructor(deps: ReaderDependencies, reads: HedgedReads) {
    this.#deps = deps;
    this.#reads = reads;
    this.#loads = new SingleFlight(deps.waitUntil, deps.now);
    this.#generations = new SingleFlight(deps.waitUntil, deps.now);
    this.#lists = new SingleFlight(deps.waitUntil, deps.now);
    this.#failures = new NegativeCache(RETRY_AFTER_MS, deps.now);
  }

  /** The manifest before the current one, if it is in memory. */
  get previous(): Manifest | undefined {
    return this.#previous;
  }

  /**
   * Returns the cached manifest, or undefined if the caller must await `current`. Starts a
   * background look-up if the manifest is no longer fresh.
   */
  held(): CurrentResult | undefined {
    const now = this.#deps.now();
    if (now < this.#freshUntil) return this.#current;
    if (!this.#current.ok || now >= this.#freshUntil + STALE_FOR_MS) return undefined;
    if (!this.#loads.has("manifest")) void this.#load();
    return this.#current;
  }

  /** Waits for a look-up, but not for long if there is a manifest in memory. */
  async current(): Promise<CurrentResult> {
    const loading = this.#load();
    if (!this.#current.ok) return loading;
    return settledWithin(PATIENCE_MS, loading, () => this.#current);
  }

  /** Looks for a newer manifest in R2, which never lags behind what was published. */
  async newest(): Promise<CurrentResult> {
    const isKnown = this.#deps.now() < this.#newestAt + ABSENT_FOR_MS;
    if (isKnown && !this.#loads.has("newest")) return this.#current;
    return this.#loads.load("newest", async () => {
      const { now, store } = this.#deps;
      this.#newestAt = now();
      const copy = await this.#reads.readFrom("r2", "manifest", (r2) => store.readManifest(r2));
      if (copy.ok) this.#accept(copy.value);
      return this.#current;
    });
  }

  /** Loads the version before a manifest; `missing` if there is none. */
  async loadPrevious({ previous }: Manifest): Promise<Copy<Manifest>> {
    if (previous === null) return NO_VERSION;
    return this.#loadGeneration(previous);
  }

  /**
   * Finds an older version, in memory or among those that R2 lists; `missing` if there is none. R2
   * has the manifests of all retained versions, and those of others until they are collected.
   */
  async findOlder(isWanted: (manifest: Manifest) => boolean): Promise<Copy<Manifest>> {
    const held = [...this.#older.values()].find(isWanted);
    if (held !== undefined) return { ok: true, value: held };
    const listed = await this.#list();
    if (!listed.ok) return listed;
    const current = this.#current.ok ? this.#current.manifest.generation : 0;
    const others = listed.value.filter((generation) => generation !== current);
    const copies = await Promise.all(others.map((each) => this.#loadGeneration(each)));
    const wanted = copies.find((copy) => copy.ok && isWanted(copy.value));
    return wanted ?? worstFault(copies) ?? NO_VERSION;
  }

  /** Lists the generations in R2, at most once a second. */
  async #list(): Promise<Copy<readonly number[]>> {
    const last = this.#listed;
    if (last !== undefined && this.#deps.now() < last.until) return last.copy;
    return this.#lists.load("generations", async () => {
      const { now, store } = this.#deps;
      const copy = await this.#reads.readFrom("r2", "generations", () => listGenerations(store));
      this.#listed = { copy, until: now() + ABSENT_FOR_MS };
      return copy;
    });
  }

  async #loadGeneration(generation: number): Promise<Copy<Manifest>> {
    const held = this.#older.get(generation);
    if (held !== undefined) return { ok: true, value: held };
    const key = String(generation);
    const failed = this.#failures.get(key);
    if (failed !== undefined) return failed;
    return this.#generations.load(key, async () => {
      const { store } = this.#deps;
      const read = () => store.readGeneration(generation);
      const copy = await this.#reads.readFrom("r2", "generation", read);
      if (copy.ok) this.#keep(copy.value);
      else this.#failures.add(key, copy);
      return copy;
    });
  }

  #keep(manifest: Manifest): void {
    this.#older.set(manifest.generation, manifest);
    if (this.#older.size > OLDER_MAX) this.#older.delete(Math.min(...this.#older.keys()));
  }

  /** Looks for a newer manifest. Concurrent calls share one look-up. */
  #load(): Promise<CurrentResult> {
    return this.#loads.load("manifest", () => this.#look());
  }

  async #look(): Promise<CurrentResult> {
    const { store, now, manifestFreshMs } = this.#deps;
    const found = await this.#reads.read("manifest", (replica) => store.readManifest(replica));
    if (found.ok) {
      this.#freshUntil = now() + manifestFreshMs;
      this.#accept(found.value);
    } else this.#fail(found.fault === "missing" ? "nothing_published" : "unavailable");
    return this.#current;
  }

  #fail(reason: "nothing_published" | "unavailable"): void {
    const held = this.#current.ok;
    this.#freshUntil = this.#deps.now() + (held ? RETRY_AFTER_MS : ABSENT_FOR_MS);
    if (!held) this.#current = { ok: false, reason };
  }

  #accept(manifest: Manifest): void {
    const held = this.#current.ok ? this.#current.manifest : undefined;
    if (held !== undefined && manifest.generation <= held.generation) return;
    this.#previous = held;
    if (held !== undefined) this.#keep(held);
    this.#current = { ok: true, manifest };
  }
}

async function listGenerations(store: CatalogCopies): Promise<Copy<readonly number[]>> {
  try {
    const listing = store.listGenerations();
    return { ok: true, value: await withDeadline("generations", LIST_DEADLINE_MS, listing) };
  } catch (error) {
    return { ok: false, fault: "unreadable", detail: String(error) };
  }
}
