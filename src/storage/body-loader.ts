import type { Body, StoredPiece } from "../parts/compose.ts";
import { releaseBuffer } from "../catalog/bytes.ts";
import type { Sha256Hex } from "../platform/units.ts";
import type {
  BodyContent,
  BodyToOpen,
  CreatePipe,
  Loaded,
  Origin,
  ReaderDependencies,
} from "./catalog-reader.ts";
import { type Copy, sentBytes } from "./catalog-store.ts";
import { SingleFlight } from "../platform/once.ts";
import { type StoreReads, worstFault } from "./store-reads.ts";

/** Share of the cache for the bodies that are used most. */
const JOINED_SHARE = 1 / 4;

interface LoadedPiece {
  readonly blob: Blob;
  readonly origin: Origin;
}

/**
 * Loads bodies and caches their parts, which bodies share. Joins a body that is wanted again soon,
 * because one blob costs the least CPU to send. A client that goes through more bodies than fit joins
 * none. Uncompressed parts are the largest and are used least, so compressed ones evict them.
 *
 * Each part is verified once, when it is read: its blob's key is its hash. The hash of a whole body
 * need not be computed again, because the manifest has a checksum and lists the parts.
 */
export class BodyLoader {
  readonly #deps: ReaderDependencies;
  readonly #reads: StoreReads;
  readonly #parts: ByteCache<Blob>;
  /** The bodies wanted last, with their sizes as if all were joined. */
  readonly #recent: ByteCache<BodyContent>;
  readonly #flights: SingleFlight<Copy<LoadedPiece>>;

  constructor(deps: ReaderDependencies, reads: StoreReads) {
    const joinedMaxBytes = deps.cacheMaxBytes * JOINED_SHARE;
    this.#deps = deps;
    this.#reads = reads;
    this.#parts = new ByteCache(deps.cacheMaxBytes - joinedMaxBytes);
    this.#recent = new ByteCache(joinedMaxBytes);
    this.#flights = new SingleFlight(deps.waitUntil, deps.now);
  }

  /** Returns the bytes of a body if all its parts are in memory. */
  cached(body: Body): BodyContent | undefined {
    const recent = this.#recent.get(body.key);
    if (recent instanceof JoinableContent) return this.#remember(body, recent.join());
    if (recent !== undefined) return recent;
    const pieces: Blob[] = [];
    for (const piece of body.pieces) {
      const blob = piece instanceof Uint8Array ? new Blob([piece]) : this.#parts.get(keyOf(piece));
      if (blob === undefined) return undefined;
      pieces.push(blob);
    }
    return this.#remember(body, new JoinableContent(pieces, this.#deps.createPipe));
  }

  /** Loads the missing parts of a body in a coding. Never rejects. */
  async load({ body, coding }: BodyToOpen): Promise<Copy<Loaded>> {
    const isSpare = coding === "identity";
    const loading = body.pieces.map(async (piece): Promise<Copy<LoadedPiece>> =>
      piece instanceof Uint8Array
        ? { ok: true, value: { blob: new Blob([piece]), origin: "memory" } }
        : this.#load(keyOf(piece), isSpare, piece.sha256, (bytes) => sentBytes(piece, bytes)),
    );
    const copies = await Promise.all(loading);
    const fault = worstFault(copies);
    if (fault !== undefined) return fault;
    const pieces = copies.flatMap((copy) => (copy.ok ? [copy.value] : []));
    const blobs = pieces.map(({ blob }) => blob);
    const content = new JoinableContent(blobs, this.#deps.createPipe);
    this.#remember(body, content);
    return { ok: true, value: { content, origin: farthest(pieces) } };
  }

  /** Loads a blob, unless it is in memory. Never rejects. */
  async loadBlob(sha256: Sha256Hex): Promise<Copy<Blob>> {
    const copy = await this.#load(sha256, true, sha256, (value) => ({ ok: true, value }));
    return copy.ok ? { ok: true, value: copy.value.blob } : copy;
  }

  /** @param key names the result. */
  async #load(
    key: string,
    isSpare: boolean,
    sha256: Sha256Hex,
    make: (bytes: Uint8Array<ArrayBuffer>) => Copy<Uint8Array<ArrayBuffer>>,
  ): Promise<Copy<LoadedPiece>> {
    const cached = this.#parts.get(key);
    if (cached !== undefined) return { ok: true, value: { blob: cached, origin: "memory" } };
    return this.#flights.load(key, async () => {
      const copy = await this.#read(sha256, make);
      if (copy.ok) this.#parts.set(key, copy.value.blob, { isSpare });
      return copy;
    });
  }

  async #read(
    sha256: Sha256Hex,
    make: (bytes: Uint8Array<ArrayBuffer>) => Copy<Uint8Array<ArrayBuffer>>,
  ): Promise<Copy<LoadedPiece>> {
    const { store } = this.#deps;
    return this.#reads.read({
      what: "blob",
      key: sha256,
      read: async (origin) => {
        const read = await store.readBlob(origin, sha256);
        const made = read.ok ? make(read.value) : read;
        if (!made.ok) return made;
        const blob = new Blob([made.value]);
        if (read.ok) for (const bytes of new Set([read.value, made.value])) releaseBuffer(bytes);
        return { ok: true, value: { blob, origin } };
      },
    });
  }

  #remember(body: Body, content: BodyContent): BodyContent {
    this.#recent.set(body.key, content);
    return content;
  }
}

const NEAREST_FIRST: readonly Origin[] = ["memory", "kv", "r2"];

function farthest(pieces: readonly LoadedPiece[]): Origin {
  const ranks = pieces.map(({ origin }) => NEAREST_FIRST.indexOf(origin));
  return NEAREST_FIRST[Math.max(...ranks)] ?? "memory";
}

/** Names a piece in the cache, as it is sent. */
function keyOf({ sha256, isInflated }: StoredPiece): string {
  return isInflated ? `${sha256} inflated` : sha256;
}

/**
 * Streams pieces one after the other. Costs a third of a millisecond more CPU than one blob, but
 * no memory: workerd copies every part into a blob of blobs, and V8 collects such copies late.
 */
class JoinableContent implements BodyContent {
  readonly size: number;
  readonly #pieces: readonly Blob[];
  readonly #createPipe: CreatePipe;

  constructor(pieces: readonly Blob[], createPipe: CreatePipe) {
    this.#pieces = pieces;
    this.#createPipe = createPipe;
    this.size = pieces.reduce((sum, { size }) => sum + size, 0);
  }

  stream(): ReadableStream<Uint8Array> {
    const { readable, writable } = this.#createPipe(this.size);
    // A rejection means that the client left, which has already ended the stream.
    void this.#write(writable).catch(() => {});
    return readable;
  }

  /** Copies the pieces into one blob, which workerd sends without a further copy. */
  join(): Blob {
    return new Blob([...this.#pieces]);
  }

  async #write(writable: WritableStream<Uint8Array>): Promise<void> {
    for (const piece of this.#pieces) await piece.stream().pipeTo(writable, { preventClose: true });
    await writable.close();
  }
}

/** A least-recently-used cache, bounded in bytes. A request must not await a promise or stream of another. */
export class ByteCache<T extends { readonly size: number }> {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, T>();
  /** Entries that give way before all others. */
  readonly #spare = new Map<string, T>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    return touch(this.#entries, key) ?? touch(this.#spare, key);
  }

  /** Stores a value and evicts the least recently used, spare ones first. Ignores a value that is too large. */
  set(key: string, value: T, { isSpare = false } = {}): void {
    this.#delete(this.#entries, key);
    this.#delete(this.#spare, key);
    if (value.size > this.#maxBytes) return;
    (isSpare ? this.#spare : this.#entries).set(key, value);
    this.#bytes += value.size;
    this.#evictFrom(this.#spare);
    this.#evictFrom(this.#entries);
  }

  #evictFrom(entries: Map<string, T>): void {
    for (const oldest of entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#delete(entries, oldest);
    }
  }

  #delete(entries: Map<string, T>, key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    this.#bytes -= value.size;
  }
}

/** Returns a value and makes it the most recently used. */
function touch<T>(entries: Map<string, T>, key: string): T | undefined {
  const value = entries.get(key);
  if (value === undefined) return undefined;
  entries.delete(key);
  entries.set(key, value);
  return value;
}
