import { DROP_PREFIX, dropKey } from "./keys.ts";

/** Files that operators have dropped into R2. */
export function createDropBox(r2: R2Bucket) {
  return {
    prefix: DROP_PREFIX,
    async open(name: string): Promise<{ bytes: ReadableStream<Uint8Array>; size: number } | null> {
      const object = await r2.get(dropKey(name));
      return object && { bytes: object.body, size: object.size };
    },
  };
}
