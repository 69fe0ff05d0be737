/** Every key that the Worker writes to KV and R2; the README has the same table. */

/** KV and R2: the current manifest (JSON). */
export const MANIFEST_KEY = "catalog/manifest";

/** KV and R2: immutable bytes of a body's segment, by their SHA-256 (hex). */
export const blobKey = (sha256: string): string => `catalog/blob/${sha256}`;

/** R2: the manifest of each generation that was published (JSON). */
export const generationKey = (generation: number): string => `catalog/manifests/${generation}`;

/** R2: exact upstream bytes, by their SHA-256 (hex). */
export const sourceKey = (sha256: string): string => `sources/${sha256}`;

/** R2: what the names of files begin with that operators drop for the source `dropped`. */
export const DROP_PREFIX = "drop/";

/** R2: a file that an operator has dropped. */
export const dropKey = (name: string): string => `${DROP_PREFIX}${name}`;
