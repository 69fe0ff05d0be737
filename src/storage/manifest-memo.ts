import type { Manifest } from "../catalog/manifest.ts";
import type { CurrentResult, ReaderDependencies } from "./catalog-reader.ts";
import { SingleFlight } from "./single-flight.ts";

/** Wait after a failed look-up, while the cached manifest is served. */
const RETRY_AFTER_MS = 5_000;
/** Wait after a look-up that found no manifest. */
const ABSENT_FOR_MS = 1_000;

/**
 * The manifests that this isolate serves from: the current and the previous one.
 *
 * Accepted race: KV may answer with an older manifest than it gives another data center. An isolate
 * ignores generations below its own, so the version that it serves never goes back.
 */
export class ManifestMemo {
  readonly #deps: ReaderDependencies;
  readonly #loads: SingleFlight<CurrentResult>;
  #current: CurrentResult = { ok: false, reason: "unavailable" };
  #previous: Manifest | undefined;
  #freshUntil = 0;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
    this.#loads = new SingleFlight(deps.waitUntil, deps.now);
  }

  /** The manifest before the current one. */
  get previous(): Manifest | undefined {
    return this.#previous;
  }

  /**
   * Returns the cached manifest, or undefined if the caller must await `load`. Starts a background
   * look-up if the manifest is no longer fresh.
   */
  held(): CurrentResult | undefined {
    if (this.#deps.now() < this.#freshUntil) return this.#current;
    if (!this.#current.ok) return undefined;
    if (!this.#loads.has("manifest")) this.#deps.waitUntil(this.load());
    return this.#current;
  }

  /** Looks for a newer manifest. Concurrent calls share one look-up. */
  load(): Promise<CurrentResult> {
    return this.#loads.load("manifest", () => this.#look());
  }

  async #look(): Promise<CurrentResult> {
    const { store, report, now, manifestFreshMs } = this.#deps;
    const kv = await store.readManifest("kv");
    const found = kv.ok ? kv : await store.readManifest("r2");
    if (!kv.ok) report(`manifest_${kv.fault}`, `kv ${kv.detail}`);
    if (!kv.ok && !found.ok) {
      if (found.fault !== "missing") report(`manifest_${found.fault}`, `r2 ${found.detail}`);
      const nothing = kv.fault === "missing" && found.fault === "missing";
      this.#fail(nothing ? "nothing_published" : "unavailable");
    }
    if (found.ok) {
      this.#freshUntil = now() + manifestFreshMs;
      this.#accept(found.value);
    }
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
    this.#current = { ok: true, manifest };
  }
}
