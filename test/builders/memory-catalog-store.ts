import { sha256Hex } from "../../src/catalog/hash.ts";
import type { Manifest } from "../../src/catalog/manifest.ts";
import { parseManifest } from "../../src/catalog/parse-manifest.ts";
import { storedManifest } from "../../src/catalog/stored-manifest.ts";
import type { CatalogStore, Copy, Replica } from "../../src/storage/catalog-store.ts";
import {
  blobKey,
  BLOBS_PREFIX,
  generationKey,
  GENERATIONS_PREFIX,
  MANIFEST_KEY,
} from "../../src/storage/keys.ts";
import { toStoreError } from "../../src/storage/store-error.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A catalog store in memory that records its calls, such as `kv get catalog/manifest`. What
 * `before` throws is what the store refuses with, and what it awaits is its delay.
 */
export class MemoryCatalogStore implements CatalogStore {
  readonly calls: string[] = [];
  readonly kv: Map<string, Bytes>;
  readonly r2: Map<string, Bytes>;
  before: (call: string) => void | Promise<void> = () => {};
  /** What it throws is thrown when the write has taken effect: its answer is lost. */
  after: (call: string) => void | Promise<void> = () => {};

  /** A store of its own, or another way into the same replicas. */
  constructor(replicas: Pick<MemoryCatalogStore, "kv" | "r2"> = { kv: new Map(), r2: new Map() }) {
    this.kv = replicas.kv;
    this.r2 = replicas.r2;
  }

  readManifest(replica: Replica): Promise<Copy<Manifest>> {
    return this.#readManifest(replica, MANIFEST_KEY);
  }

  readGeneration(generation: number): Promise<Copy<Manifest>> {
    return this.#readManifest("r2", generationKey(generation));
  }

  async readBlob(replica: Replica, sha256: string): Promise<Copy<Bytes>> {
    const copy = await this.#get(replica, blobKey(sha256));
    if (!copy.ok || sha256Hex(copy.value) === sha256) return copy;
    return { ok: false, fault: "corrupt", detail: blobKey(sha256) };
  }

  async checkBlob(replica: Replica, sha256: string): Promise<Copy<string>> {
    const copy = await this.readBlob(replica, sha256);
    return copy.ok ? { ok: true, value: sha256 } : copy;
  }

  async writeBlob(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#put("r2", blobKey(sha256), bytes);
    await this.#put("kv", blobKey(sha256), bytes);
  }

  async listBlobs(): Promise<string[]> {
    await this.#change(`r2 list ${BLOBS_PREFIX}`);
    const keys = [...this.r2.keys()].filter((key) => key.startsWith(BLOBS_PREFIX));
    return keys.map((key) => key.slice(BLOBS_PREFIX.length));
  }

  async deleteBlobs(sha256s: readonly string[]): Promise<void> {
    for (const replica of ["kv", "r2"] as const)
      for (const sha256 of sha256s) await this.#delete(replica, blobKey(sha256));
  }

  async writeGeneration(manifest: Manifest): Promise<void> {
    await this.#put("r2", generationKey(manifest.generation), textOf(manifest));
  }

  async listGenerations(): Promise<number[]> {
    const prefix = GENERATIONS_PREFIX;
    await this.#change(`r2 list ${prefix}`);
    const keys = [...this.r2.keys()].filter((key) => key.startsWith(prefix));
    return keys.map((key) => Number(key.slice(prefix.length)));
  }

  async deleteGenerations(generations: readonly number[]): Promise<void> {
    for (const generation of generations) await this.#delete("r2", generationKey(generation));
  }

  async writeManifest(manifest: Manifest): Promise<void> {
    await this.#put("r2", MANIFEST_KEY, textOf(manifest));
    await this.#put("kv", MANIFEST_KEY, textOf(manifest));
  }

  /** Publishes a version as the ingest does, without recording it. */
  publish(version: {
    manifest: Manifest;
    blobs: readonly (readonly [string, Uint8Array])[];
  }): void {
    for (const replica of [this.kv, this.r2]) {
      for (const [sha256, bytes] of version.blobs)
        replica.set(blobKey(sha256), Uint8Array.from(bytes));
      replica.set(MANIFEST_KEY, textOf(version.manifest));
    }
    this.r2.set(generationKey(version.manifest.generation), textOf(version.manifest));
  }

  /** Calls of a kind so far, such as `kv get`. */
  count(kind: string): number {
    return this.calls.filter((call) => call.startsWith(kind)).length;
  }

  async #readManifest(replica: Replica, key: string): Promise<Copy<Manifest>> {
    const copy = await this.#get(replica, key);
    if (!copy.ok) return copy;
    const parsed = parseManifest(new TextDecoder().decode(copy.value));
    return parsed.ok
      ? { ok: true, value: parsed.manifest }
      : { ok: false, fault: "corrupt", detail: parsed.problem };
  }

  async #get(replica: Replica, key: string): Promise<Copy<Bytes>> {
    const call = `${replica} get ${key}`;
    this.calls.push(call);
    try {
      await this.before(call);
    } catch (error) {
      return { ok: false, fault: "unreadable", detail: `${key}: ${String(error)}` };
    }
    const value = this[replica].get(key);
    return value === undefined
      ? { ok: false, fault: "missing", detail: key }
      : { ok: true, value: value.slice() };
  }

  async #delete(replica: Replica, key: string): Promise<void> {
    await this.#change(`${replica} delete ${key}`, () => this[replica].delete(key));
  }

  async #put(replica: Replica, key: string, bytes: Uint8Array): Promise<void> {
    const taken = Uint8Array.from(bytes);
    await this.#change(`${replica} put ${key}`, () => this[replica].set(key, taken));
  }

  async #change(call: string, change: () => unknown = () => {}): Promise<void> {
    this.calls.push(call);
    try {
      await this.before(call);
      change();
      await this.after(call);
    } catch (error) {
      throw toStoreError(call, error);
    }
  }
}

/** The stored text of a manifest, without a seal. */
export function textOf(manifest: Manifest): Bytes {
  return Uint8Array.from(new TextEncoder().encode(JSON.stringify(storedManifest(manifest))));
}
