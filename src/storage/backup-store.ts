import { bounded } from "./bounded.ts";
import { withStoreTimeout } from "./deadline.ts";
import { storedHash } from "./stored-hash.ts";
import {
  BACKUP_OBJECTS_PREFIX,
  backupManifestKey,
  backupNoteKey,
  backupObjectKey,
  backupPartKey,
  backupPrefix,
  BACKUPS_PREFIX,
} from "./keys.ts";

/** A note added to a backup after its creation. */
type BackupNote = "pin" | "verdict";

/** A file to store, with its expected SHA-256 (hex). */
export interface NewFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** A shared object with its upload time in milliseconds since 1970. */
interface ListedObject {
  readonly sha256: string;
  readonly storedAt: number;
}

/** Backups in R2. Every method throws if R2 fails, and every write is idempotent. */
export interface BackupStore {
  /** Lists the folders under `backups/`, ascending: ids and any other folder. */
  folders(): Promise<string[]>;
  readManifest(id: string): Promise<string | null>;
  /** Commits a backup. Call this last: everything that the manifest names must be stored. */
  writeManifest(id: string, text: string): Promise<void>;
  readPart(id: string, name: string): Promise<Uint8Array | null>;
  /** Throws if the bytes do not have the hash. */
  writePart(id: string, name: string, file: NewFile): Promise<void>;
  readObject(sha256: string): Promise<Uint8Array | null>;
  writeObject(file: NewFile): Promise<void>;
  /** Length of an object; null if it is missing or R2 recorded another hash. */
  objectBytes(sha256: string): Promise<number | null>;
  /** All objects, page by page. */
  objects(): AsyncIterable<readonly ListedObject[]>;
  deleteObjects(sha256s: readonly string[]): Promise<void>;
  readNote(id: string, note: BackupNote): Promise<string | null>;
  writeNote(id: string, note: BackupNote, text: string): Promise<void>;
  deleteNote(id: string, note: BackupNote): Promise<void>;
  /** Time of the last write to a backup's folder (ms since 1970); null if it is empty. */
  changedAt(id: string): Promise<number | null>;
  /** Deletes a backup, its manifest first, so that a partial deletion never looks complete. */
  deleteBackup(id: string): Promise<void>;
}

/** How long one call may take, also one that reads or deletes many keys. */
const CALL_DEADLINE_MS = 60_000;

export function createBackupStore(r2: R2Bucket): BackupStore {
  const readText = async (key: string) => (await r2.get(key))?.text() ?? null;
  return bounded("backups", CALL_DEADLINE_MS, {
    async folders() {
      const names: string[] = [];
      for await (const page of pages(r2, { prefix: BACKUPS_PREFIX, delimiter: "/" }))
        names.push(...page.delimitedPrefixes.map((key) => key.slice(BACKUPS_PREFIX.length, -1)));
      return names.toSorted();
    },
    readManifest: (id) => readText(backupManifestKey(id)),
    async writeManifest(id, text) {
      await r2.put(backupManifestKey(id), text);
    },
    readPart: (id, name) => readBytes(r2, backupPartKey(id, name)),
    async writePart(id, name, { bytes, sha256 }) {
      await r2.put(backupPartKey(id, name), bytes, { sha256 });
    },
    readObject: (sha256) => readBytes(r2, backupObjectKey(sha256)),
    async writeObject({ bytes, sha256 }) {
      await r2.put(backupObjectKey(sha256), bytes, { sha256 });
    },
    async objectBytes(sha256) {
      const head = await r2.head(backupObjectKey(sha256));
      return head !== null && storedHash(head) === sha256 ? head.size : null;
    },
    async *objects() {
      for await (const { objects } of pages(r2, { prefix: BACKUP_OBJECTS_PREFIX }))
        yield objects.map(({ key, uploaded }) => ({
          sha256: key.slice(BACKUP_OBJECTS_PREFIX.length),
          storedAt: uploaded.getTime(),
        }));
    },
    async deleteObjects(sha256s) {
      if (sha256s.length > 0) await r2.delete(sha256s.map(backupObjectKey));
    },
    readNote: (id, note) => readText(backupNoteKey(id, note)),
    async writeNote(id, note, text) {
      await r2.put(backupNoteKey(id, note), text);
    },
    async deleteNote(id, note) {
      await r2.delete(backupNoteKey(id, note));
    },
    async changedAt(id) {
      const times: number[] = [];
      for await (const { objects } of pages(r2, { prefix: backupPrefix(id) }))
        times.push(...objects.map(({ uploaded }) => uploaded.getTime()));
      return times.length === 0 ? null : Math.max(...times);
    },
    async deleteBackup(id) {
      await r2.delete(backupManifestKey(id));
      for await (const { objects } of pages(r2, { prefix: backupPrefix(id) }))
        if (objects.length > 0) await r2.delete(objects.map(({ key }) => key));
    },
  } satisfies BackupStore);
}

/** Iterates over the pages of a listing, each of at most 1,000 keys. */
async function* pages(r2: R2Bucket, options: R2ListOptions): AsyncGenerator<R2Objects> {
  let cursor: string | undefined;
  do {
    const asked = r2.list({ ...options, ...(cursor !== undefined && { cursor }) });
    const page: R2Objects = await withStoreTimeout("list of backups", CALL_DEADLINE_MS, asked);
    yield page;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}

async function readBytes(r2: R2Bucket, key: string): Promise<Uint8Array | null> {
  const object = await r2.get(key);
  return object === null ? null : new Uint8Array(await object.arrayBuffer());
}
