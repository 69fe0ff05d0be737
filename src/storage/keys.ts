/** Every key that the Worker writes to KV and R2. */
import { orStoreError } from "../platform/deadline.ts";
import type { Sha256Hex } from "../platform/units.ts";

/** KV and R2: the current manifest (JSON). */
export const MANIFEST_KEY = "catalog/manifest";

export const BLOBS_PREFIX = "catalog/blob/";

/** KV and R2: immutable bytes of a part, by hash. */
export const blobKey = (sha256: Sha256Hex): string => `${BLOBS_PREFIX}${sha256}`;

export const GENERATIONS_PREFIX = "catalog/manifests/";

/** R2: the manifest of a published generation (JSON). */
export const generationKey = (generation: number): string => `${GENERATIONS_PREFIX}${generation}`;

export const SOURCES_PREFIX = "sources/";

/** R2: exact upstream bytes, by hash. */
export const sourceKey = (sha256: Sha256Hex): string => `${SOURCES_PREFIX}${sha256}`;

/** R2: prefix of the files that operators drop for the source `dropped`. */
export const DROP_PREFIX = "drop/";

/** R2: a dropped file. */
export const dropKey = (name: string): string => `${DROP_PREFIX}${name}`;

export const BACKUPS_PREFIX = "backups/";

export const backupPrefix = (id: string): string => `${BACKUPS_PREFIX}${id}/`;

/** R2: manifest of a backup (JSON), written last. Without it the backup does not exist. */
export const backupManifestKey = (id: string): string => `${backupPrefix(id)}manifest.json`;

/** R2: rows of a table or of the coordinator's state (gzipped NDJSON). */
export const backupPartKey = (id: string, name: string): string =>
  `${backupPrefix(id)}parts/${name}`;

/** R2: pin or verdict of a backup (JSON). */
export const backupNoteKey = (id: string, note: "pin" | "verdict"): string =>
  `${backupPrefix(id)}${note}.json`;

export const BACKUP_OBJECTS_FOLDER = "objects";
export const BACKUP_OBJECTS_PREFIX = `${BACKUPS_PREFIX}${BACKUP_OBJECTS_FOLDER}/`;

/** R2: backup copy of a blob or an upstream file, by hash. */
export const backupObjectKey = (sha256: Sha256Hex): string => `${BACKUP_OBJECTS_PREFIX}${sha256}`;

/** Deadline for a page of 1,000 keys. */
const PAGE_DEADLINE_MS = 10_000;

/** Lists the keys in R2 under a prefix, without the prefix. Throws StoreError if R2 fails. */
export async function listNames(r2: R2Bucket, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { objects } of listPages(r2, { prefix }))
    names.push(...objects.map(({ key }) => key.slice(prefix.length)));
  return names;
}

/** Lists the keys in R2, page by page. Throws StoreError if R2 fails. */
export async function* listPages(
  r2: R2Bucket,
  options: R2ListOptions & { readonly prefix: string },
): AsyncGenerator<R2Objects> {
  let cursor: string | undefined;
  do {
    const listing = r2.list({ ...options, ...(cursor !== undefined && { cursor }) });
    const page: R2Objects = await orStoreError(options.prefix, PAGE_DEADLINE_MS, listing);
    yield page;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
