import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/hash.ts";
import type { Body, Segment } from "../catalog/manifest.ts";
import { ByteCache } from "./byte-cache.ts";
import { ByteSemaphore } from "./byte-semaphore.ts";
import type { ReaderDependencies } from "./catalog-reader.ts";
import type { Copy, Replica } from "./catalog-store.ts";
import { NegativeCache } from "./negative-cache.ts";
import { SingleFlight } from "./single-flight.ts";

/** How long a body that a store could not give is not asked of that store again. */
const UNREADABLE_FOR_MS = 2_000;
/** Bytes of bodies that may be in the making at once, besides those that are held. */
export const JOINING_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Loads bodies from a store, joined out of their segments and checked by their hashes, and holds
 * those that were used last. A body is loaded once for all requests that want it meanwhile, and not
 * again soon after that failed.
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

  /** The bytes of a body; undefined where they are not held. */
  held({ sha256 }: Body): Blob | undefined {
    return this.#cache.get(sha256);
  }

  /** The bytes of a body from a store. Waits while too many others are in the making. Never rejects. */
  async load(replica: Replica, body: Body): Promise<Copy<Blob>> {
    const key = `${replica} ${body.sha256}`;
    const failed = this.#failures.get(key);
    if (failed !== undefined) return failed;
    return this.#flights.load(key, () =>
      this.#joining.run(body.bytes, async () => {
        // It may have come from the other store while this one waited in line.
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
      const detail = `body ${body.sha256}: its segments join to something else`;
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
