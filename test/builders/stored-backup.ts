import { sha256Hex } from "../../src/catalog/bytes.ts";
import { type BackupManifest, manifestText, packPart } from "../../src/backup/format.ts";
import { backupManifestKey, backupNoteKey } from "../../src/storage/keys.ts";
import { ago, HOUR_MS } from "./facts.ts";
import type { MemoryBucket } from "./memory-bucket.ts";

/** The files of a small backup. */
export function aBackup(id: string, changes: Partial<BackupManifest> = {}) {
  const state = packPart(null, 1, ['{"pause":null}']);
  const object = new TextEncoder().encode(`object of ${id}`);
  const manifest: BackupManifest = {
    format: 1,
    id,
    trigger: "manual",
    note: null,
    started_at: ago(HOUR_MS + 5_000),
    finished_at: ago(HOUR_MS),
    worker_version: null,
    built_by: null,
    catalog: null,
    tables: {},
    parts: [state.part],
    missing: [],
    objects: [{ sha256: sha256Hex(object), bytes: object.length }],
    ...changes,
  };
  return { state, object, text: manifestText(manifest) };
}

const VERIFIED_AT = ago(HOUR_MS - 1_000);

/** The verdict on a backup that proved good. */
export const GOOD_VERDICT = JSON.stringify({
  state: "verified",
  at: VERIFIED_AT,
  message: "Every byte is right.",
});

/** Lays the manifest of a backup that proved good into a bucket. */
export function storeGoodBackup(bucket: MemoryBucket, id: string): void {
  const recorded = { storedAt: Date.parse(VERIFIED_AT) };
  bucket.lay(backupManifestKey(id), aBackup(id).text, recorded);
  bucket.lay(backupNoteKey(id, "verdict"), GOOD_VERDICT, recorded);
}
