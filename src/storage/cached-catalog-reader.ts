import type { Body } from "../parts/compose.ts";
import type { Manifest } from "../parts/manifest.ts";
import { BodyLoader } from "./body-loader.ts";
import type {
  BodyContent,
  CurrentResult,
  OpenResult,
  ReaderDependencies,
  BodyToOpen,
} from "./catalog-reader.ts";
import type { Copy } from "./catalog-store.ts";
import { settledWithin } from "../platform/deadline.ts";
import { OlderVersions } from "./older-versions.ts";
import { SingleFlight } from "../platform/once.ts";
import { StoreReads } from "./store-reads.ts";
import { isRecent } from "../platform/time.ts";
import { isAdoptable } from "../platform/ranges.ts";
import type { Sha256Hex } from "../platform/units.ts";

/**
 * How long a stale manifest is still served at once, while a look-up runs in the background. A busy
 * isolate looks within this time; an isolate that slept longer waits. KV itself may answer with a
 * manifest that is this old.
 */
const STALE_FOR_MS = 30_000;
/** Longest wait for a look-up while an older manifest is in memory. R2 is read within this time. */
const LOOK_WAIT_MS = 1_000;
/** Wait after a failed look-up, while the manifest in memory is served. */
const RETRY_AFTER_MS = 5_000;
/** Wait between looks for a manifest in R2. */
const NEWEST_FOR_MS = 1_000;

/**
 * Reads the catalog from memory, then from KV or R2. While neither store returns a manifest, it serves
 * from the one in memory, however old. It never uses a blob with a wrong hash. Store faults are values:
 * it never rejects. Each isolate has one reader.
 *
 * Accepted race: KV may answer with an older manifest than it gives another data center. An isolate
 * ignores generations below its own, so the version that it serves never goes back.
 */
export class CachedCatalogReader {
  readonly #deps: ReaderDependencies;
  readonly #reads: StoreReads;
  readonly #looks: SingleFlight<CurrentResult>;
  readonly #bodies: BodyLoader;
  readonly #older: OlderVersions;
  #manifest: Manifest | undefined;
  #lookedAt = 0;
  /** How long the result of that look is fresh. */
  #freshMs = 0;
  #newestAt = 0;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
    this.#reads = new StoreReads(deps);
    this.#looks = new SingleFlight(deps.waitUntil, deps.now);
    this.#bodies = new BodyLoader(deps, this.#reads);
    this.#older = new OlderVersions(deps, this.#reads);
  }

  /** Returns the current version without a wait; undefined if `current` must be awaited. May start a look-up. */
  cachedCurrent(): Manifest | undefined {
    const now = this.#deps.now();
    if (isRecent(this.#lookedAt, this.#freshMs, now)) return this.#manifest;
    if (!isRecent(this.#lookedAt, this.#freshMs + STALE_FOR_MS, now)) return undefined;
    if (this.#manifest !== undefined && !this.#looks.has("current")) void this.#look();
    return this.#manifest;
  }

  cachedContent(body: Body): BodyContent | undefined {
    return this.#bodies.cached(body);
  }

  /** Returns the current version. Reads no store while it is fresh; waits for a look-up if it is stale. */
  async current(): Promise<CurrentResult> {
    const cached = this.cachedCurrent();
    if (cached !== undefined) return { ok: true, manifest: cached };
    const looking = this.#look();
    const stale = this.#manifest;
    if (stale === undefined) return looking;
    return settledWithin(LOOK_WAIT_MS, looking, () => ({ ok: true, manifest: stale }));
  }

  /** Returns the store's current version, where another place may know a newer one. */
  async newest(): Promise<CurrentResult> {
    const { now, store } = this.#deps;
    const isKnown = isRecent(this.#newestAt, NEWEST_FOR_MS, now()) && !this.#looks.has("newest");
    if (isKnown && this.#manifest !== undefined) return { ok: true, manifest: this.#manifest };
    return this.#looks.load("newest", async () => {
      this.#newestAt = now();
      const read = () => store.readManifest("r2");
      return this.#accept(await this.#reads.readR2({ what: "manifest", key: "newest", read }));
    });
  }

  /** Finds a retained version besides the current one; `missing` if there is none. */
  async findOlder(isWanted: (manifest: Manifest) => boolean): Promise<Copy<Manifest>> {
    return this.#older.find(isWanted, this.#manifest);
  }

  /** Whether R2 lists the manifest of a generation. True also if it cannot say. */
  async isListed(generation: number): Promise<boolean> {
    return this.#older.isListed(generation);
  }

  async blob(sha256: Sha256Hex): Promise<Copy<Blob>> {
    return this.#bodies.loadBlob(sha256);
  }

  async open(wanted: BodyToOpen): Promise<OpenResult> {
    const content = this.#bodies.cached(wanted.body);
    if (content !== undefined) return { ok: true, content, origin: "memory" };
    const copy = await this.#bodies.load(wanted);
    if (copy.ok) return { ok: true, ...copy.value };
    return { ok: false, reason: copy.fault === "unreadable" ? "unavailable" : "data_loss" };
  }

  /** Looks for a newer manifest. Concurrent calls share one look-up. */
  #look(): Promise<CurrentResult> {
    return this.#looks.load("current", async () => {
      const { store, now, manifestFreshMs } = this.#deps;
      const read: typeof store.readManifest = (replica) => store.readManifest(replica);
      const copy = await this.#reads.read({ what: "manifest", key: "current", read });
      this.#lookedAt = now();
      this.#freshMs = copy.ok ? manifestFreshMs : RETRY_AFTER_MS;
      return this.#accept(copy);
    });
  }

  /** Makes a manifest current if it is newer than the one in memory, and returns the current one. */
  #accept(copy: Copy<Manifest>): CurrentResult {
    const cached = this.#manifest;
    if (copy.ok && (cached === undefined || isNewer(copy.value, cached))) {
      if (cached !== undefined) this.#older.keep(cached);
      this.#manifest = copy.value;
      return { ok: true, manifest: copy.value };
    }
    if (cached !== undefined) return { ok: true, manifest: cached };
    if (copy.ok || copy.fault === "missing") return { ok: false, reason: "nothing_published" };
    const damage = copy.fault === "corrupt" && { damage: copy.detail };
    return { ok: false, reason: "unavailable", ...damage };
  }
}

/**
 * Any other generation replaces one above which the coordinator would not publish.
 *
 * Accepted race: if an installation has adopted the highest such generation and publishes above it all
 * the same, an isolate to which KV answers with an older manifest shows that older version.
 */
function isNewer(found: Manifest, cached: Manifest): boolean {
  if (!isAdoptable(cached.generation) && isAdoptable(found.generation)) return true;
  return found.generation > cached.generation;
}
