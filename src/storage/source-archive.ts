import { sourceKey } from "./keys.ts";

/** Exact upstream bytes in R2, by their SHA-256. Both methods throw if the store refuses. */
export interface SourceArchive {
  write(sha256: string, bytes: Uint8Array): Promise<void>;
  open(file: string, sha256: string): Promise<ReadableStream<Uint8Array>>;
}

export function createSourceArchive(r2: R2Bucket): SourceArchive {
  return {
    async write(sha256, bytes) {
      await r2.put(sourceKey(sha256), bytes, { sha256 });
    },
    async open(file, sha256) {
      const object = await r2.get(sourceKey(sha256));
      if (object === null) throw new Error(`${file} is not archived as ${sourceKey(sha256)}`);
      return object.body;
    },
  };
}
