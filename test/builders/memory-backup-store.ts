import { sha256Hex } from "../../src/catalog/hash.ts";
import type { BackupStore, NewFile } from "../../src/storage/backup-store.ts";
import {
  BACKUP_OBJECTS_PREFIX,
  backupManifestKey,
  backupNoteKey,
  backupObjectKey,
  backupPartKey,
  backupPrefix,
  BACKUPS_PREFIX,
} from "../../src/storage/keys.ts";

interface Stored {
  readonly bytes: Uint8Array;
  readonly sha256: string | undefined;
  readonly storedAt: number;
}

/**
 * Backups in memory, by the keys that R2 has them under. It records its calls, such as
 * `put backups/objects/…`; what `before` throws is the fault of the store.
 */
export class MemoryBackupStore implements BackupStore {
  readonly files: Map<string, Stored>;
  readonly calls: string[] = [];
  before: (call: string) => void | Promise<void> = () => {};
  /** What it throws is thrown when the write has taken effect: its answer is lost. */
  after: (call: string) => void | Promise<void> = () => {};
  readonly #now: () => number;

  /** A store of its own, or another way into the same files. */
  constructor(now: () => number, files = new Map<string, Stored>()) {
    this.#now = now;
    this.files = files;
  }

  async folders(): Promise<string[]> {
    await this.#enter("list");
    const keys = [...this.files.keys()].map((key) => key.slice(BACKUPS_PREFIX.length));
    return [...new Set(keys.map((key) => key.split("/")[0] ?? ""))].toSorted();
  }

  readManifest(id: string): Promise<string | null> {
    return this.#text(backupManifestKey(id));
  }

  writeManifest(id: string, text: string): Promise<void> {
    return this.#put(backupManifestKey(id), utf8(text));
  }

  readPart(id: string, name: string): Promise<Uint8Array | null> {
    return this.#get(backupPartKey(id, name));
  }

  writePart(id: string, name: string, file: NewFile): Promise<void> {
    return this.#putFile(backupPartKey(id, name), file);
  }

  readObject(sha256: string): Promise<Uint8Array | null> {
    return this.#get(backupObjectKey(sha256));
  }

  writeObject(file: NewFile): Promise<void> {
    return this.#putFile(backupObjectKey(file.sha256), file);
  }

  async objectBytes(sha256: string): Promise<number | null> {
    await this.#enter(`head ${backupObjectKey(sha256)}`);
    const stored = this.files.get(backupObjectKey(sha256));
    return stored?.sha256 === sha256 ? stored.bytes.length : null;
  }

  async *objects() {
    await this.#enter("list");
    yield [...this.files]
      .filter(([key]) => key.startsWith(BACKUP_OBJECTS_PREFIX))
      .map(([key, { storedAt }]) => ({
        sha256: key.slice(BACKUP_OBJECTS_PREFIX.length),
        storedAt,
      }));
  }

  async deleteObjects(sha256s: readonly string[]): Promise<void> {
    for (const sha256 of sha256s) await this.#delete(backupObjectKey(sha256));
  }

  readNote(id: string, note: "pin" | "verdict"): Promise<string | null> {
    return this.#text(backupNoteKey(id, note));
  }

  writeNote(id: string, note: "pin" | "verdict", text: string): Promise<void> {
    return this.#put(backupNoteKey(id, note), utf8(text));
  }

  deleteNote(id: string, note: "pin" | "verdict"): Promise<void> {
    return this.#delete(backupNoteKey(id, note));
  }

  async changedAt(id: string): Promise<number | null> {
    const times = this.#under(id).map((key) => this.files.get(key)?.storedAt ?? 0);
    return times.length === 0 ? null : Math.max(...times);
  }

  async deleteBackup(id: string): Promise<void> {
    for (const key of [backupManifestKey(id), ...this.#under(id)]) await this.#delete(key);
  }

  /** Stores bytes behind everybody's back, as damage does. */
  damage(key: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const stored = this.files.get(key);
    if (stored === undefined) throw new Error(`there is no ${key}`);
    const bytes = change(Uint8Array.from(stored.bytes));
    this.files.set(key, { ...stored, bytes, sha256: undefined });
  }

  /** Calls that begin so. */
  callsOf(beginning: string): string[] {
    return this.calls.filter((call) => call.startsWith(beginning));
  }

  #under(id: string): string[] {
    return [...this.files.keys()].filter((key) => key.startsWith(backupPrefix(id)));
  }

  async #text(key: string): Promise<string | null> {
    const bytes = await this.#get(key);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  async #get(key: string): Promise<Uint8Array | null> {
    await this.#enter(`get ${key}`);
    return this.files.get(key)?.bytes.slice() ?? null;
  }

  async #putFile(key: string, { bytes, sha256 }: NewFile): Promise<void> {
    if (sha256Hex(bytes) !== sha256) throw new Error("put: the SHA-256 does not match");
    await this.#put(key, bytes, sha256);
  }

  async #put(key: string, bytes: Uint8Array, sha256?: string): Promise<void> {
    await this.#enter(`put ${key}`);
    this.files.set(key, { bytes: Uint8Array.from(bytes), sha256, storedAt: this.#now() });
    await this.after(`put ${key}`);
  }

  async #delete(key: string): Promise<void> {
    await this.#enter(`delete ${key}`);
    this.files.delete(key);
    await this.after(`delete ${key}`);
  }

  async #enter(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call);
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text);
