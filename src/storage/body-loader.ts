import { Buffer } from "node:buffer";
import { releaseBuffer } from "../catalog/bytes.ts";
import type { Body, Segment } from "../catalog/manifest.ts";
import { ByteCache } from "./byte-cache.ts";
import type { ReaderDependencies } from "./catalog-reader.ts";
import type { Copy } from "./catalog-store.ts";
import { type Content, SegmentedContent } from "./content.ts";
import { type HedgedReads, worstFault } from "./hedged-reads.ts";
import { NegativeCache } from "./negative-cache.ts";
import { SingleFlight } from "./single-flight.ts";

/** Wait before a body that cannot be read is tried again: a lost blob is no fault of a store. */
const UNREADABLE_FOR_MS = 2_000;
/** Share of the cache for the bodies that are used most. */
const JOINED_SHARE = 1 / 4;

/**
 * Loads bodies and caches their segments, so that bodies share what they have in common. A body that
 * is wanted again soon is joined, because one blob costs the least CPU to send. A client that goes
 * through more bodies than fit joins none.
 *
 * Each segment is verified once, when it is read: its key is its hash. The hash of a whole body need
 * not be computed again, because the sealed manifest says which segments make up the body.
 */
export class BodyLoader {
  readonly #deps: ReaderDependencies;
  readonly #reads: HedgedReads;
  readonly #segments: ByteCache<Blob>;
  /** The bodies wanted last, with their sizes as if all were joined. */
  readonly #recent: ByteCache<Content>;
  readonly #flights: SingleFlight<Copy<Blob>>;
  readonly #failures: NegativeCache<Copy<Content>>;

  constructor(deps: ReaderDependencies, reads: HedgedReads) {
    const joinedMaxBytes = deps.cacheMaxBytes * JOINED_SHARE;
    this.#deps = deps;
    this.#reads = reads;
    this.#segments = new ByteCache(deps.cacheMaxBytes - joinedMaxBytes);
    this.#recent = new ByteCache(joinedMaxBytes);
    this.#flights = new SingleFlight(deps.waitUntil, deps.now);
    this.#failures = new NegativeCache(UNREADABLE_FOR_MS, deps.now);
  }

  /** Returns the bytes of a body if all its segments are in memory. */
  held(body: Body): Content | undefined {
    const recent = this.#recent.get(body.sha256);
    if (recent instanceof SegmentedContent) return this.#remember(body, recent.join());
    if (recent !== undefined) return recent;
    const parts: Blob[] = [];
    for (const segment of body.segments) {
      const part = this.#heldSegment(segment);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return this.#remember(body, new SegmentedContent(parts, this.#deps.createPipe));
  }

  /** Loads the missing segments of a body. Never rejects. */
  async load(body: Body): Promise<Copy<Content>> {
    const failed = this.#failures.get(body.sha256);
    if (failed !== undefined) return failed;
    const copies = await Promise.all(body.segments.map((segment) => this.#loadSegment(segment)));
    const fault = worstFault(copies);
    if (fault !== undefined) {
      this.#failures.add(body.sha256, fault);
      return fault;
    }
    const parts = copies.flatMap((copy) => (copy.ok ? [copy.value] : []));
    const content = new SegmentedContent(parts, this.#deps.createPipe);
    return { ok: true, value: this.#remember(body, content) };
  }

  /** Loads a blob, unless it is in memory. Never rejects. */
  async loadBlob(sha256: string): Promise<Copy<Blob>> {
    const held = this.#segments.get(sha256);
    if (held !== undefined) return { ok: true, value: held };
    return this.#flights.load(sha256, () => this.#readBlob(sha256));
  }

  #remember(body: Body, content: Content): Content {
    this.#recent.set(body.sha256, content);
    return content;
  }

  #heldSegment(segment: Segment): Blob | undefined {
    if ("blob" in segment) return this.#segments.get(segment.blob);
    return inlineBlob(segment.inline);
  }

  async #loadSegment(segment: Segment): Promise<Copy<Blob>> {
    if ("blob" in segment) return this.loadBlob(segment.blob);
    return { ok: true, value: inlineBlob(segment.inline) };
  }

  async #readBlob(sha256: string): Promise<Copy<Blob>> {
    const { store } = this.#deps;
    const copy = await this.#reads.read("blob", (replica) => store.readBlob(replica, sha256));
    if (!copy.ok) return copy;
    const value = new Blob([copy.value]);
    releaseBuffer(copy.value);
    this.#segments.set(sha256, value);
    return { ok: true, value };
  }
}

function inlineBlob(base64: string): Blob {
  return new Blob([Buffer.from(base64, "base64")]);
}
