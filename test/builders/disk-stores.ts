import {
  existsSync,
  mkdirSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sha256Hex } from "../../src/catalog/hash.ts";
import type { Manifest } from "../../src/catalog/manifest.ts";
import { parseManifest } from "../../src/catalog/parse-manifest.ts";
import type { CatalogStore, Copy, Replica } from "../../src/storage/catalog-store.ts";
import {
  blobKey,
  generationKey,
  GENERATIONS_PREFIX,
  MANIFEST_KEY,
  sourceKey,
  SOURCES_PREFIX,
} from "../../src/storage/keys.ts";
import type { SourceArchive } from "../../src/storage/source-archive.ts";

/** KV and R2 as folders: what they hold is in nobody's memory. */
export class DiskCatalogStore implements CatalogStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async readManifest(replica: Replica): Promise<Copy<Manifest>> {
    return asManifest(this.#read(replica, MANIFEST_KEY));
  }

  async readGeneration(generation: number): Promise<Copy<Manifest>> {
    return asManifest(this.#read("r2", generationKey(generation)));
  }

  async readBlob(replica: Replica, sha256: string): Promise<Copy<Uint8Array<ArrayBuffer>>> {
    const copy = this.#read(replica, blobKey(sha256));
    if (!copy.ok || sha256Hex(copy.value) === sha256) return copy;
    return { ok: false, fault: "corrupt", detail: blobKey(sha256) };
  }

  async checkBlob(replica: Replica, sha256: string): Promise<Copy<string>> {
    const copy = await this.readBlob(replica, sha256);
    return copy.ok ? { ok: true, value: sha256 } : copy;
  }

  async writeBlob(sha256: string, bytes: Uint8Array): Promise<void> {
    for (const replica of ["r2", "kv"] as const) this.#write(replica, blobKey(sha256), bytes);
  }

  async deleteBlobs(sha256s: readonly string[]): Promise<void> {
    for (const replica of ["r2", "kv"] as const)
      for (const sha256 of sha256s) rmSync(this.#path(replica, blobKey(sha256)), { force: true });
  }

  async writeGeneration(manifest: Manifest): Promise<void> {
    this.#write("r2", generationKey(manifest.generation), JSON.stringify(manifest));
  }

  async listGenerations(): Promise<number[]> {
    return namesIn(this.#path("r2", GENERATIONS_PREFIX)).map(Number);
  }

  async deleteGenerations(generations: readonly number[]): Promise<void> {
    for (const generation of generations)
      rmSync(this.#path("r2", generationKey(generation)), { force: true });
  }

  async writeManifest(manifest: Manifest): Promise<void> {
    for (const replica of ["r2", "kv"] as const)
      this.#write(replica, MANIFEST_KEY, JSON.stringify(manifest));
  }

  #path(replica: Replica, key: string): string {
    return join(this.#folder, replica, key);
  }

  #write(replica: Replica, key: string, content: Uint8Array | string): void {
    const path = this.#path(replica, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  #read(replica: Replica, key: string): Copy<Uint8Array<ArrayBuffer>> {
    try {
      const { buffer, byteOffset, length } = readFileSync(this.#path(replica, key));
      return { ok: true, value: new Uint8Array(buffer, byteOffset, length) };
    } catch {
      return { ok: false, fault: "missing", detail: key };
    }
  }
}

/** The archive of upstream bytes as a folder. */
export function diskArchive(folder: string): SourceArchive {
  const pathOf = (sha256: string) => join(folder, sourceKey(sha256));
  return {
    async has(sha256) {
      return existsSync(pathOf(sha256));
    },
    async write(sha256, bytes) {
      mkdirSync(dirname(pathOf(sha256)), { recursive: true });
      writeFileSync(pathOf(sha256), bytes);
    },
    async list() {
      return namesIn(join(folder, SOURCES_PREFIX));
    },
    async delete(sha256s) {
      for (const sha256 of sha256s) rmSync(pathOf(sha256), { force: true });
    },
    async open(_, sha256) {
      return (await openAsBlob(pathOf(sha256))).stream();
    },
  };
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function asManifest(copy: Copy<Uint8Array>): Copy<Manifest> {
  if (!copy.ok) return copy;
  const parsed = parseManifest(new TextDecoder().decode(copy.value));
  return parsed.ok
    ? { ok: true, value: parsed.manifest }
    : { ok: false, fault: "corrupt", detail: parsed.problem };
}
