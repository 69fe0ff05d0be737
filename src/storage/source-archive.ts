import { sha256Hex } from "../catalog/bytes.ts";
import { bounded, CALL_DEADLINE_MS, orStoreError, StoreError } from "../platform/deadline.ts";
import type { Sha256Hex } from "../platform/units.ts";
import { DROP_PREFIX, dropKey, listNames, sourceKey, SOURCES_PREFIX } from "./keys.ts";

/** Exact upstream bytes in R2, by hash. Every method throws StoreError if R2 fails. */
export type SourceArchive = ReturnType<typeof createSourceArchive>;

export function createSourceArchive(r2: R2Bucket) {
  /** Reads the bytes. Returns null if they are missing or have another hash. */
  const read = async (sha256: Sha256Hex) => {
    const buffer = await (await r2.get(sourceKey(sha256)))?.arrayBuffer();
    const bytes = new Uint8Array(buffer ?? []);
    return buffer !== undefined && sha256Hex(bytes) === sha256 ? bytes : null;
  };
  return bounded("upstream file", CALL_DEADLINE_MS, {
    async write(sha256: Sha256Hex, bytes: Uint8Array): Promise<void> {
      await r2.put(sourceKey(sha256), bytes, { sha256 });
    },
    list: (): Promise<Sha256Hex[]> => listNames(r2, SOURCES_PREFIX),
    async delete(sha256s: readonly Sha256Hex[]): Promise<void> {
      if (sha256s.length > 0) await r2.delete(sha256s.map(sourceKey));
    },
    read,
    /** Opens the bytes. Throws StoreError if they are missing or have another hash. */
    async open(file: string, sha256: Sha256Hex): Promise<ReadableStream<Uint8Array>> {
      const bytes = await read(sha256);
      if (bytes === null)
        throw new StoreError(`${file} is not archived as ${sourceKey(sha256)}, or is damaged`);
      return new Blob([bytes]).stream();
    },
  });
}

/** Deadline to find a file in R2, and another to read it. */
const SOURCE_DEADLINE_MS = 30_000;

/** Reads files that operators have dropped into R2. Throws StoreError if R2 fails. */
export function createDropBox(r2: R2Bucket) {
  return {
    prefix: DROP_PREFIX,
    async find(name: string) {
      const key = dropKey(name);
      const head = await orStoreError(key, SOURCE_DEADLINE_MS, r2.head(key));
      return head && { size: head.size, as_of: head.customMetadata?.["as_of"] };
    },
    async read(name: string) {
      const key = dropKey(name);
      const object = await orStoreError(key, SOURCE_DEADLINE_MS, r2.get(key));
      if (object === null) throw new StoreError(`${key} was deleted meanwhile`);
      return orStoreError(key, SOURCE_DEADLINE_MS, object.arrayBuffer());
    },
  };
}
