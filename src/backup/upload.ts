/** Taking a backup in from elsewhere: its files first, in any order, its manifest last. */
import type { BackupStore } from "../storage/backup-store.ts";
import type { BackupManifest } from "./format.ts";
import { type Fault, fault } from "./fault.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { parseManifest } from "./parse-manifest.ts";

/** The manifest of a backup, and who sends it. */
export interface ManifestUpload {
  readonly id: string;
  readonly text: string;
  readonly by: string;
}

export type UploadResult =
  | { readonly ok: true; readonly disposition: "created" | "unchanged" }
  | { readonly ok: false; readonly reason: "exists" }
  | { readonly ok: false; readonly reason: "unusable" | "incomplete"; readonly fault: Fault };

/** Files that are looked at at a time. */
const AT_A_TIME = 6;

/**
 * Takes the manifest of an uploaded backup, by which the backup begins to exist: pinned, since by
 * its age retention might let it go at once. Refused unless everything that it names is stored:
 * nothing may be deleted between the look and the write.
 */
export async function acceptManifest(
  backups: BackupStore,
  { id, text, by }: ManifestUpload,
): Promise<UploadResult> {
  const parsed = parseManifest(text, id);
  if (!parsed.ok) return { ok: false, reason: "unusable", fault: parsed.fault };
  const present = await backups.readManifest(id);
  if (present !== null)
    return present === text
      ? { ok: true, disposition: "unchanged" }
      : { ok: false, reason: "exists" };
  const missing = await findMissing(backups, parsed.manifest);
  if (missing !== undefined) return { ok: false, reason: "incomplete", fault: missing };
  await backups.writeNote(id, "pin", JSON.stringify({ by }));
  await backups.writeManifest(id, text);
  return { ok: true, disposition: "created" };
}

async function findMissing(
  backups: BackupStore,
  { id, parts, objects }: BackupManifest,
): Promise<Fault | undefined> {
  const checks = [
    ...parts.map(({ name, sha256 }) => async () => {
      const isStored = await backups.hasPart(id, name, sha256);
      return isStored ? undefined : fault("part_missing", `the part ${name} has not arrived`);
    }),
    ...objects.map(({ sha256, bytes }) => async () => {
      const isStored = (await backups.objectBytes(sha256)) === bytes;
      return isStored ? undefined : fault("object_missing", `the object ${sha256} has not arrived`);
    }),
  ];
  const faults = await mapConcurrently(checks, AT_A_TIME, (check) => check());
  return faults.find((each) => each !== undefined);
}
