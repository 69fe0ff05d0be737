import { sha256Hex } from "../../src/catalog/bytes.ts";
import type { SourceArchive } from "../../src/storage/source-archive.ts";
import { StoreError, toStoreError } from "../../src/storage/deadline.ts";
import { streamOf } from "./source.ts";

/** An archive in memory that records its calls, such as `write <sha256>`. */
export class MemorySourceArchive implements SourceArchive {
  readonly calls: string[] = [];
  /** By their hashes. */
  readonly files: Map<string, Uint8Array>;
  /** What it throws is the fault of the store, and what it awaits is its delay. */
  before: (call: string) => void | Promise<void> = () => {};

  /** An archive of its own, or another way into the same files. */
  constructor(files = new Map<string, Uint8Array>()) {
    this.files = files;
  }

  async write(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#begin(`write ${sha256}`);
    this.files.set(sha256, bytes);
  }

  async list(): Promise<string[]> {
    await this.#begin("list");
    return [...this.files.keys()];
  }

  async delete(sha256s: readonly string[]): Promise<void> {
    for (const sha256 of sha256s) {
      await this.#begin(`delete ${sha256}`);
      this.files.delete(sha256);
    }
  }

  async read(sha256: string): Promise<Uint8Array<ArrayBuffer> | null> {
    await this.#begin(`read ${sha256}`);
    const bytes = this.files.get(sha256);
    return bytes !== undefined && sha256Hex(bytes) === sha256 ? Uint8Array.from(bytes) : null;
  }

  async open(file: string, sha256: string): Promise<ReadableStream<Uint8Array>> {
    await this.#begin(`open ${file}`);
    const bytes = this.files.get(sha256);
    if (bytes === undefined || sha256Hex(bytes) !== sha256)
      throw new StoreError(`${file} is not archived as ${sha256}`);
    return streamOf(bytes);
  }

  async #begin(call: string): Promise<void> {
    this.calls.push(call);
    try {
      await this.before(call);
    } catch (error) {
      throw toStoreError(call, error);
    }
  }
}
