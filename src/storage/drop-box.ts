import { withStoreTimeout } from "./deadline.ts";
import { DROP_PREFIX, dropKey } from "./keys.ts";

/** Deadline to find a file in R2, and another to read it. */
const READ_DEADLINE_MS = 30_000;

/** Opens files that operators have dropped into R2. Throws StoreError if R2 fails. */
export function createDropBox(r2: R2Bucket) {
  return {
    prefix: DROP_PREFIX,
    async open(name: string) {
      const key = dropKey(name);
      const object = await withStoreTimeout(key, READ_DEADLINE_MS, r2.get(key));
      return (
        object && {
          size: object.size,
          as_of: object.customMetadata?.["as_of"],
          read: () => withStoreTimeout(key, READ_DEADLINE_MS, object.arrayBuffer()),
          discard: () => withStoreTimeout(key, READ_DEADLINE_MS, object.body.cancel()),
        }
      );
    },
  };
}
