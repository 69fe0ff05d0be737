import { Buffer } from "node:buffer";
import { sha256Hex } from "../../src/catalog/bytes.ts";

interface Stored {
  readonly bytes: Uint8Array;
  /** As R2 verified it; undefined if it was uploaded without one. */
  readonly sha256: string | undefined;
  readonly storedAt: number;
}

/** An R2 bucket in memory, as far as backups use it. It records its calls, such as `put backups/…`. */
export class MemoryBucket {
  readonly files: Map<string, Stored>;
  readonly calls: string[] = [];
  /** What it throws is the fault of the bucket. */
  before: (call: string) => void | Promise<void> = () => {};
  /** What it throws is thrown when a change has taken effect: its answer is lost. */
  after: (call: string) => void | Promise<void> = () => {};
  readonly #now: () => number;

  /** A bucket of its own, or another way into the same files. */
  constructor(now: () => number, files = new Map<string, Stored>()) {
    this.#now = now;
    this.files = files;
  }

  /** As the adapters take it. */
  get binding(): R2Bucket {
    return this as unknown as R2Bucket; // the adapters use no more than there is here
  }

  async get(key: string) {
    await this.#enter(`get ${key}`);
    const bytes = this.files.get(key)?.bytes;
    return bytes === undefined ? null : new Response(Uint8Array.from(bytes));
  }

  async head(key: string) {
    await this.#enter(`head ${key}`);
    const stored = this.files.get(key);
    return stored === undefined ? null : describe(key, stored);
  }

  async put(key: string, value: string | Uint8Array, { sha256 }: { sha256?: string } = {}) {
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
    if (sha256 !== undefined && sha256Hex(bytes) !== sha256)
      throw new Error("put: the SHA-256 does not match");
    await this.#enter(`put ${key}`);
    this.files.set(key, { bytes: Uint8Array.from(bytes), sha256, storedAt: this.#now() });
    await this.after(`put ${key}`);
  }

  async delete(keys: string | readonly string[]) {
    for (const key of [keys].flat()) {
      await this.#enter(`delete ${key}`);
      this.files.delete(key);
      await this.after(`delete ${key}`);
    }
  }

  /** All keys in one page; folders instead of what is in them, where a delimiter is given. */
  async list({ prefix, delimiter }: { prefix: string; delimiter?: string }) {
    await this.#enter("list");
    const found = [...this.files].filter(([key]) => key.startsWith(prefix));
    const folders = found.map(([key]) => key.slice(0, key.indexOf("/", prefix.length) + 1));
    return {
      objects: found.map(([key, stored]) => describe(key, stored)),
      delimitedPrefixes: delimiter === undefined ? [] : [...new Set(folders)],
      truncated: false,
    };
  }

  /** Stores other bytes behind everybody's back, as damage does. */
  damage(key: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const stored = this.files.get(key);
    if (stored === undefined) throw new Error(`there is no ${key}`);
    const bytes = change(Uint8Array.from(stored.bytes));
    this.files.set(key, { ...stored, bytes, sha256: undefined });
  }

  async #enter(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}

function describe(key: string, { bytes, sha256, storedAt }: Stored) {
  const checksums = { sha256: sha256 === undefined ? undefined : Buffer.from(sha256, "hex") };
  return { key, size: bytes.length, uploaded: new Date(storedAt), checksums };
}

/** Damage to a file: one bit in the middle. */
export function flipBit(bytes: Uint8Array): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  return bytes.map((byte, index) => (index === middle ? byte ^ 1 : byte));
}
