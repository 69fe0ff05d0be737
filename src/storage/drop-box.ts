import { withStoreTimeout } from "./deadline.ts";
import { DROP_PREFIX, dropKey } from "./keys.ts";

/** How long R2 may take to find a file, and then to give it. */
const READ_DEADLINE_MS = 30_000;

/** Files that operators have dropped into R2. Throws StoreError if it refuses. */
export function createDropBox(r2: R2Bucket) {
  return {
    prefix: DROP_PREFIX,
    async open(name: string) {
      const key = dropKey(name);
      const object = await withStoreTimeout(key, READ_DEADLINE_MS, r2.get(key));
      return (
        object && {
          size: object.size,
          droppedAt: object.uploaded,
          read: () => withStoreTimeout(key, READ_DEADLINE_MS, object.arrayBuffer()),
          discard: () => withStoreTimeout(key, READ_DEADLINE_MS, object.body.cancel()),
        }
      );
    },
  };
}
