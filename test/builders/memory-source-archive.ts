import { createSourceArchive } from "../../src/storage/source-archive.ts";
import { MemoryBucket } from "./memory-bucket.ts";

export type MemorySourceArchive = ReturnType<typeof memorySourceArchive>;

/** The real archive over a bucket in memory: its own, or another way into the objects of `other`. */
export function memorySourceArchive(other?: ConstructorParameters<typeof MemoryBucket>[0]) {
  const bucket = new MemoryBucket(other);
  return { ...createSourceArchive(bucket.binding), bucket };
}
