import type { SourceArchive } from "../../src/storage/source-archive.ts";
import { StoreError, toStoreError } from "../../src/storage/store-error.ts";
import { streamOf } from "./source.ts";

/** An archive in memory that records its calls, such as `write <sha256>`. */
export class MemorySourceArchive implements SourceArchive {
  readonly calls: string[] = [];
  /** By their hashes. */
  readonly files = new Map<string, Uint8Array>();
  before: (call: string) => void = () => {};

  async has(sha256: string): Promise<boolean> {
    this.#begin(`has ${sha256}`);
    return this.files.has(sha256);
  }

  async write(sha256: string, bytes: Uint8Array): Promise<void> {
    this.#begin(`write ${sha256}`);
    this.files.set(sha256, bytes);
  }

  async list(): Promise<string[]> {
    this.#begin("list");
    return [...this.files.keys()];
  }

  async delete(sha256s: readonly string[]): Promise<void> {
    for (const sha256 of sha256s) {
      this.#begin(`delete ${sha256}`);
      this.files.delete(sha256);
    }
  }

  async read(sha256: string): Promise<Uint8Array<ArrayBuffer> | null> {
    this.#begin(`read ${sha256}`);
    const bytes = this.files.get(sha256);
    return bytes === undefined ? null : Uint8Array.from(bytes);
  }

  async open(file: string, sha256: string): Promise<ReadableStream<Uint8Array>> {
    this.#begin(`open ${file}`);
    const bytes = this.files.get(sha256);
    if (bytes === undefined) throw new StoreError(`${file} is not archived as ${sha256}`);
    return streamOf(bytes);
  }

  #begin(call: string): void {
    this.calls.push(call);
    try {
      this.before(call);
    } catch (error) {
      throw toStoreError(call, error);
    }
  }
}
