import { Buffer } from "node:buffer";
import { sha256Hex } from "../catalog/bytes.ts";
import { bounded, CALL_DEADLINE_MS } from "../platform/deadline.ts";
import type { EpochMs, Sha256Hex } from "../platform/units.ts";
import {
  BACKUP_OBJECTS_PREFIX,
  backupManifestKey,
  backupNoteKey,
  backupObjectKey,
  backupPartKey,
  backupPrefix,
  BACKUPS_PREFIX,
  listPages,
} from "./keys.ts";

/** A note added to a backup after its creation. */
type BackupNote = "pin" | "verdict";

interface ListedPart {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: Sha256Hex;
}

/** A file to store, with its expected hash. */
interface NewFile {
  readonly bytes: Uint8Array;
  readonly sha256: Sha256Hex;
}

/** A shared object with its upload time. */
interface ListedObject {
  readonly sha256: Sha256Hex;
  readonly bytes: number;
  readonly storedAt: EpochMs;
}

/** Backups in R2. Every method throws if R2 fails, and every write is idempotent. */
export type BackupStore = ReturnType<typeof createBackupStore>;

export function createBackupStore(r2: R2Bucket) {
  const readText = async (key: string) => {
    const object = await r2.get(key);
    return object && textOf(object);
  };
  const findManifest = async (id: string) => {
    const object = await r2.get(backupManifestKey(id));
    return object && { text: await textOf(object), storedAt: object.uploaded.getTime() };
  };
  return bounded("backups", CALL_DEADLINE_MS, {
    /** Lists the folders under `backups/`, ascending: ids and any other folder. */
    async folders(): Promise<string[]> {
      const names: string[] = [];
      for await (const page of listPages(r2, { prefix: BACKUPS_PREFIX, delimiter: "/" }))
        names.push(...page.delimitedPrefixes.map((key) => key.slice(BACKUPS_PREFIX.length, -1)));
      return names.toSorted();
    },
    readManifest: async (id: string) => (await findManifest(id))?.text ?? null,
    /** Reads a manifest, with its upload time. */
    findManifest,
    /** Commits a backup. Call this last: everything that the manifest names must be stored. */
    async writeManifest(id: string, text: string): Promise<void> {
      await r2.put(backupManifestKey(id), text);
    },
    readPart: (id: string, name: string) => readBytes(r2, backupPartKey(id, name)),
    /** Throws if the bytes do not have the hash. */
    async writePart(id: string, name: string, { bytes, sha256 }: NewFile): Promise<void> {
      await r2.put(backupPartKey(id, name), bytes, { sha256 });
    },
    async parts(id: string): Promise<ListedPart[]> {
      const parts: ListedPart[] = [];
      const prefix = backupPartKey(id, "");
      for await (const { objects } of listPages(r2, { prefix }))
        for (const object of objects) {
          const { key, size: bytes } = object;
          const sha256 =
            storedHash(object) ?? sha256Hex((await readBytes(r2, key)) ?? new Uint8Array());
          parts.push({ name: key.slice(prefix.length), bytes, sha256 });
        }
      return parts;
    },
    readObject: (sha256: Sha256Hex) => readBytes(r2, backupObjectKey(sha256)),
    async writeObject({ bytes, sha256 }: NewFile): Promise<void> {
      await r2.put(backupObjectKey(sha256), bytes, { sha256 });
    },
    /** Whether R2 has an object and recorded its hash. */
    async hasObject(sha256: Sha256Hex): Promise<boolean> {
      return storedHash(await r2.head(backupObjectKey(sha256))) === sha256;
    },
    async *objects(): AsyncGenerator<readonly ListedObject[]> {
      for await (const { objects } of listPages(r2, { prefix: BACKUP_OBJECTS_PREFIX }))
        yield objects.map(({ key, size, uploaded }) => ({
          sha256: key.slice(BACKUP_OBJECTS_PREFIX.length),
          bytes: size,
          storedAt: uploaded.getTime(),
        }));
    },
    async deleteObjects(sha256s: readonly Sha256Hex[]): Promise<void> {
      if (sha256s.length > 0) await r2.delete(sha256s.map(backupObjectKey));
    },
    readNote: (id: string, note: BackupNote) => readText(backupNoteKey(id, note)),
    async writeNote(id: string, note: BackupNote, text: string): Promise<void> {
      await r2.put(backupNoteKey(id, note), text);
    },
    async deleteNote(id: string, note: BackupNote): Promise<void> {
      await r2.delete(backupNoteKey(id, note));
    },
    /** Time of the last write to a backup's folder; null if it is empty. */
    async changedAt(id: string): Promise<EpochMs | null> {
      const times: EpochMs[] = [];
      for await (const { objects } of listPages(r2, { prefix: backupPrefix(id) }))
        times.push(...objects.map(({ uploaded }) => uploaded.getTime()));
      return times.length === 0 ? null : Math.max(...times);
    },
    /** Deletes a backup, its manifest first, so that a partial deletion never looks complete. */
    async deleteBackup(id: string): Promise<void> {
      await r2.delete(backupManifestKey(id));
      for await (const { objects } of listPages(r2, { prefix: backupPrefix(id) }))
        if (objects.length > 0) await r2.delete(objects.map(({ key }) => key));
    },
  });
}

/** Several times the size for twenty versions. */
const TEXT_MAX_BYTES = 4 * 1024 * 1024;

/** The text of a manifest or a note. A text that is too long becomes empty, and so counts as damaged. */
async function textOf(object: R2ObjectBody): Promise<string> {
  if (object.size <= TEXT_MAX_BYTES) return object.text();
  await object.body.cancel();
  return "";
}

async function readBytes(r2: R2Bucket, key: string): Promise<Uint8Array | null> {
  const object = await r2.get(key);
  return object === null ? null : new Uint8Array(await object.arrayBuffer());
}

/** Returns the hash that R2 verified on upload; undefined if there is none. */
function storedHash(head: R2Object | null): Sha256Hex | undefined {
  const sha256 = head?.checksums.sha256;
  return sha256 === undefined ? undefined : Buffer.from(sha256).toString("hex");
}
