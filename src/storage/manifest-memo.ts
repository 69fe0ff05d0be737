import type { Manifest } from "../catalog/manifest.ts";
import type { CurrentResult, ReaderDependencies } from "./catalog-reader.ts";
import { SingleFlight } from "./single-flight.ts";

/** After a look for a newer manifest failed, how long to serve what is held without looking. */
const RETRY_AFTER_MS = 5_000;
/** How long "no manifest" is answered without looking again. */
const ABSENT_FOR_MS = 1_000;

/**
 * The manifests that this isolate serves from: the current one and the one before it.
 *
 * Accepted race: KV may answer with an older manifest than another data centre's. A generation
 * lower than the held one is never taken, so what an isolate serves never goes back.
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

  /** The manifest held before the current one. */
  get previous(): Manifest | undefined {
    return this.#previous;
  }

  /**
   * The current manifest if one is held, looking for a newer one behind the answer where it is no
   * longer fresh; undefined if `load` must be awaited.
   */
  held(): CurrentResult | undefined {
    if (this.#deps.now() < this.#freshUntil) return this.#current;
    if (!this.#current.ok) return undefined;
    if (!this.#loads.has("manifest")) this.#deps.waitUntil(this.load());
    return this.#current;
  }

  /** Looks for a newer manifest. */
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
