import { Buffer } from "node:buffer";
import { sha256Hex } from "../../src/catalog/bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** R2's metadata of an object. */
interface Recorded {
  /** As R2 verified it; undefined if the object was uploaded without one. */
  readonly sha256?: string | undefined;
  readonly storedAt?: number;
  readonly customMetadata?: { readonly [name: string]: string };
}

interface PutOptions extends Pick<Recorded, "sha256" | "customMetadata"> {
  readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string };
}

/** An R2 bucket in memory, as far as the adapters use it. It records its calls, such as `put backups/…`. */
export class MemoryBucket {
  /** Bytes of the objects. A change here is no call. */
  readonly files: Map<string, Bytes>;
  readonly recorded: Map<string, Recorded>;
  readonly calls: string[] = [];
  /** Its errors and delays are the bucket's. */
  before: (call: string) => void | Promise<void> = () => {};
  /** Its errors come after a change has taken effect, so that the answer is lost. */
  after: (call: string) => void | Promise<void> = () => {};
  readonly #now: () => number;

  /** A new bucket, or another binding of `other`. */
  constructor(other?: Pick<MemoryBucket, "files" | "recorded">, now: () => number = () => 0) {
    this.files = other?.files ?? new Map();
    this.recorded = other?.recorded ?? new Map();
    this.#now = now;
  }

  /** As the adapters take it. */
  get binding(): R2Bucket {
    return this as unknown as R2Bucket; // the adapters use no more than there is here
  }

  async get(key: string) {
    await this.#enter(`get ${key}`);
    const bytes = this.files.get(key);
    if (bytes === undefined) return null;
    const { size = 0, uploaded, customMetadata = {} } = this.#describe(key) ?? {};
    return Object.assign(new Response(bytes.slice()), { size, uploaded, customMetadata });
  }

  async head(key: string) {
    await this.#enter(`head ${key}`);
    return this.#describe(key);
  }

  async put(key: string, value: string | Uint8Array, options: PutOptions = {}) {
    const { sha256, customMetadata = {}, onlyIf = {} } = options;
    const bytes = toBytes(value);
    if (sha256 !== undefined && sha256Hex(bytes) !== sha256)
      throw new Error("put: the SHA-256 does not match");
    await this.#enter(`put ${key}`);
    const etag = this.#describe(key)?.etag;
    const isRefused =
      (onlyIf.etagMatches !== undefined && onlyIf.etagMatches !== etag) ||
      (onlyIf.etagDoesNotMatch === "*" && etag !== undefined);
    if (!isRefused) this.lay(key, bytes, { sha256, customMetadata, storedAt: this.#now() });
    await this.after(`put ${key}`);
    return isRefused ? null : this.#describe(key);
  }

  async delete(keys: string | readonly string[]) {
    for (const key of [keys].flat()) {
      await this.#enter(`delete ${key}`);
      this.files.delete(key);
      await this.after(`delete ${key}`);
    }
  }

  /** All keys in one page; folders as well, if a delimiter is given. */
  async list({ prefix, delimiter }: { prefix: string; delimiter?: string }) {
    await this.#enter(`list ${prefix}`);
    const keys = [...this.files.keys()].filter((key) => key.startsWith(prefix));
    const folders = keys.map((key) => key.slice(0, key.indexOf("/", prefix.length) + 1));
    return {
      objects: keys.map((key) => this.#describe(key)),
      delimitedPrefixes: delimiter === undefined ? [] : [...new Set(folders)],
      truncated: false,
    };
  }

  /** Stores an object without a call. */
  lay(key: string, value: string | Uint8Array, recorded: Recorded = {}): void {
    this.files.set(key, toBytes(value));
    this.recorded.set(key, { storedAt: this.#now(), ...recorded });
  }

  /** Stores other bytes for an object without a call, as damage does. */
  damage(key: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const bytes = this.files.get(key);
    if (bytes === undefined) throw new Error(`there is no ${key}`);
    this.lay(key, change(bytes.slice()), { ...this.recorded.get(key), sha256: undefined });
  }

  #describe(key: string) {
    const bytes = this.files.get(key);
    if (bytes === undefined) return null;
    const { sha256, storedAt = 0, customMetadata = {} } = this.recorded.get(key) ?? {};
    return {
      key,
      size: bytes.length,
      get etag() {
        return sha256Hex(bytes);
      },
      uploaded: new Date(storedAt),
      checksums: { sha256: sha256 === undefined ? undefined : Buffer.from(sha256, "hex") },
      customMetadata: { ...customMetadata },
    };
  }

  async #enter(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}

export function toBytes(value: string | Uint8Array): Bytes {
  return Uint8Array.from(typeof value === "string" ? new TextEncoder().encode(value) : value);
}

/** Damage to a file: one bit in the middle. */
export function flipBit(bytes: Uint8Array): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  return bytes.map((byte, index) => (index === middle ? byte ^ 1 : byte));
}
