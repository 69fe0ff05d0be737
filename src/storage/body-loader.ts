import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/hash.ts";
import type { Body, Segment } from "../catalog/manifest.ts";
import { ByteCache } from "./byte-cache.ts";
import { ByteSemaphore } from "./byte-semaphore.ts";
import type { ReaderDependencies } from "./catalog-reader.ts";
import type { Copy, Replica } from "./catalog-store.ts";
import { NegativeCache } from "./negative-cache.ts";
import { SingleFlight } from "./single-flight.ts";

/** Wait before a failed body is read from the same store again. */
const UNREADABLE_FOR_MS = 2_000;
/** Most bytes of bodies being joined at once, apart from the cached ones. */
export const JOINING_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Loads bodies: reads their segments, joins them and verifies the hash. Caches the most recently
 * used bodies. Concurrent requests share one load, and a failed load is not repeated for a while.
 */
export class BodyLoader {
  readonly #deps: ReaderDependencies;
  readonly #cache: ByteCache;
  readonly #flights: SingleFlight<Copy<Blob>>;
  readonly #joining: ByteSemaphore;
  readonly #failures: NegativeCache<Copy<Blob>>;

  constructor(deps: ReaderDependencies) {
    this.#deps = deps;
    this.#cache = new ByteCache(deps.cacheMaxBytes);
    this.#flights = new SingleFlight(deps.waitUntil, deps.now);
    this.#joining = new ByteSemaphore(JOINING_MAX_BYTES, deps.now);
    this.#failures = new NegativeCache(UNREADABLE_FOR_MS, deps.now);
  }

  /** The cached bytes of a body; undefined if it is not cached. */
  held({ sha256 }: Body): Blob | undefined {
    return this.#cache.get(sha256);
  }

  /** Loads a body from a store. Waits while too many bytes are being joined. Never rejects. */
  async load(replica: Replica, body: Body): Promise<Copy<Blob>> {
    const key = `${replica} ${body.sha256}`;
    const failed = this.#failures.get(key);
    if (failed !== undefined) return failed;
    return this.#flights.load(key, () =>
      this.#joining.run(body.bytes, async () => {
        // A load from the other store may have finished while this one waited.
        const held = this.held(body);
        if (held !== undefined) return { ok: true, value: held };
        const copy = await this.#join(replica, body);
        if (!copy.ok) this.#failures.add(key, copy);
        return copy;
      }),
    );
  }

  async #join(replica: Replica, body: Body): Promise<Copy<Blob>> {
    const copies = await Promise.all(
      body.segments.map((segment) => this.#loadSegment(replica, segment)),
    );
    const parts: Blob[] = [];
    for (const copy of copies) {
      if (!copy.ok) return copy;
      parts.push(copy.value);
    }
    const whole = new Blob(parts);
    if (sha256Hex(new Uint8Array(await whole.arrayBuffer())) !== body.sha256) {
      const detail = `body ${body.sha256}: its segments join to bytes of another hash`;
      this.#deps.report("body_corrupt", detail);
      return { ok: false, fault: "corrupt", detail };
    }
    this.#cache.set(body.sha256, whole);
    return { ok: true, value: whole };
  }

  async #loadSegment(replica: Replica, segment: Segment): Promise<Copy<Blob>> {
    if ("inline" in segment)
      return { ok: true, value: new Blob([Buffer.from(segment.inline, "base64")]) };
    const held = this.#cache.get(segment.blob);
    if (held !== undefined) return { ok: true, value: held };
    const copy = await this.#deps.store.readBlob(replica, segment.blob);
    if (!copy.ok) {
      this.#deps.report(`blob_${copy.fault}`, copy.detail);
      return copy;
    }
    const value = new Blob([copy.value]);
    this.#cache.set(segment.blob, value);
    return { ok: true, value };
  }
}
