/** Every key that the Worker writes to KV and R2; the README has the same table. */

/** KV and R2: the current manifest (JSON). */
export const MANIFEST_KEY = "catalog/manifest";

/** KV and R2: what the keys of blobs begin with. */
export const BLOBS_PREFIX = "catalog/blob/";

/** KV and R2: immutable bytes of a body's segment, by their SHA-256 (hex). */
export const blobKey = (sha256: string): string => `${BLOBS_PREFIX}${sha256}`;

/** R2: what the keys of the manifests begin with, by their generations. */
export const GENERATIONS_PREFIX = "catalog/manifests/";

/** R2: the manifest of a generation that was published (JSON). */
export const generationKey = (generation: number): string => `${GENERATIONS_PREFIX}${generation}`;

/** R2: what the keys of upstream files begin with. */
export const SOURCES_PREFIX = "sources/";

/** R2: exact upstream bytes, by their SHA-256 (hex). */
export const sourceKey = (sha256: string): string => `${SOURCES_PREFIX}${sha256}`;

/** R2: what the names of files begin with that operators drop for the source `dropped`. */
export const DROP_PREFIX = "drop/";

/** R2: a file that an operator has dropped. */
export const dropKey = (name: string): string => `${DROP_PREFIX}${name}`;

/** R2: what the keys of all backups begin with. */
export const BACKUPS_PREFIX = "backups/";

/** R2: what the keys of one backup begin with. */
export const backupPrefix = (id: string): string => `${BACKUPS_PREFIX}${id}/`;

/** R2: what a backup consists of (JSON), written last: without it the backup does not exist. */
export const backupManifestKey = (id: string): string => `${backupPrefix(id)}manifest.json`;

/** R2: rows of a table or of the coordinator's state (NDJSON, gzip). */
export const backupPartKey = (id: string, name: string): string =>
  `${backupPrefix(id)}parts/${name}`;

/** R2: what was said of a backup later (JSON). */
export const backupNoteKey = (id: string, note: "pin" | "verdict"): string =>
  `${backupPrefix(id)}${note}.json`;

/** R2: what the keys of objects begin with that backups share. */
export const BACKUP_OBJECTS_PREFIX = `${BACKUPS_PREFIX}objects/`;

/** R2: a blob or an upstream file as backups keep it, by its SHA-256 (hex). */
export const backupObjectKey = (sha256: string): string => `${BACKUP_OBJECTS_PREFIX}${sha256}`;
