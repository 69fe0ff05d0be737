import { sha256Hex } from "../../src/catalog/bytes.ts";
import { sourceKey } from "../../src/storage/keys.ts";
import { createSourceArchive, type SourceArchive } from "../../src/storage/source-archive.ts";

const PREFIX = sourceKey("");

/** The real archive over an R2 in memory, which records its calls, such as `write <sha256>`. */
export class MemorySourceArchive implements SourceArchive {
  readonly calls: string[] = [];
  /** By their hashes. */
  readonly files: Map<string, Uint8Array>;
  /** What it throws is the fault of R2, and what it awaits is its delay. */
  before: (call: string) => void | Promise<void> = () => {};
  /** The file that is being opened, which its read in R2 is called after. */
  #opening: string | null = null;
  readonly #archive = createSourceArchive(this.#bucket());

  /** An archive of its own, or another way into the same files. */
  constructor(files = new Map<string, Uint8Array>()) {
    this.files = files;
  }

  write(sha256: string, bytes: Uint8Array) {
    return this.#archive.write(sha256, bytes);
  }

  list() {
    return this.#archive.list();
  }

  delete(sha256s: readonly string[]) {
    return this.#archive.delete(sha256s);
  }

  read(sha256: string) {
    return this.#archive.read(sha256);
  }

  open(file: string, sha256: string) {
    this.#opening = file;
    return this.#archive.open(file, sha256);
  }

  #bucket(): R2Bucket {
    const nameOf = (key: string) => key.slice(PREFIX.length);
    const bucket = {
      put: async (key: string, bytes: Uint8Array, { sha256 }: { sha256: string }) => {
        await this.#enter(`write ${nameOf(key)}`);
        if (sha256Hex(bytes) !== sha256) throw new Error("put: the SHA-256 does not match");
        this.files.set(nameOf(key), Uint8Array.from(bytes));
      },
      get: async (key: string) => {
        const call = this.#opening === null ? `read ${nameOf(key)}` : `open ${this.#opening}`;
        this.#opening = null;
        await this.#enter(call);
        const bytes = this.files.get(nameOf(key));
        return bytes === undefined ? null : new Response(Uint8Array.from(bytes));
      },
      delete: async (keys: readonly string[]) => {
        for (const key of keys) {
          await this.#enter(`delete ${nameOf(key)}`);
          this.files.delete(nameOf(key));
        }
      },
      list: async () => {
        await this.#enter("list");
        const objects = [...this.files.keys()].map((name) => ({ key: PREFIX + name }));
        return { objects, truncated: false };
      },
    };
    return bucket as unknown as R2Bucket; // the archive uses no more than there is here
  }

  async #enter(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}
