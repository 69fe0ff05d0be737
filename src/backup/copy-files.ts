/** Copies blobs and upstream files, into a backup and out of it. */
import { sha256Hex } from "../catalog/bytes.ts";
import {
  mapConcurrently,
  OBJECTS_AT_A_TIME,
  OBJECTS_PER_STEP,
} from "../platform/map-concurrently.ts";
import { readIntactBlob } from "../storage/catalog-store.ts";
import type { StoredFile } from "./state-part.ts";
import {
  type BackupCheckpoint,
  type BackupStepResult,
  countUp,
  type StepDependencies,
} from "./step.ts";

/** A place of files. Throws if a store fails. */
interface FilePlace {
  /** Whether a file need not be written. */
  has(file: StoredFile): Promise<boolean>;
  /** Returns null if no copy is intact. */
  read(file: StoredFile): Promise<Uint8Array | null>;
  write(file: StoredFile, bytes: Uint8Array): Promise<void>;
}

/** The stores of the catalog, and the archive. Both copies of a blob are always written. */
export function servedFiles({ store, archive }: StepDependencies): FilePlace {
  return {
    has: async () => false,
    async read({ sha256, kind }) {
      if (kind === "source") return archive.read(sha256);
      const copy = await readIntactBlob(store, sha256);
      if (!copy.ok && copy.fault === "unreadable") throw new Error(copy.detail);
      return copy.ok ? copy.value : null;
    },
    write: ({ sha256, kind }, bytes) =>
      kind === "source" ? archive.write(sha256, bytes) : store.writeBlob(sha256, bytes),
  };
}

export function backedUpFiles({ backups }: StepDependencies): FilePlace {
  return {
    has: ({ sha256 }) => backups.hasObject(sha256),
    async read({ sha256 }) {
      const bytes = await backups.readObject(sha256);
      return bytes !== null && sha256Hex(bytes) === sha256 ? bytes : null;
    },
    write: ({ sha256 }, bytes) => backups.writeObject({ sha256, bytes }),
  };
}

interface Copying {
  readonly from: FilePlace;
  readonly to: FilePlace;
  /** Called for a file of which no copy is intact. */
  readonly lacking: (file: StoredFile) => void;
}

export async function copyFiles(
  files: readonly StoredFile[],
  { from, to, lacking }: Copying,
  checkpoint: BackupCheckpoint,
): Promise<BackupStepResult> {
  const due = files.slice(checkpoint.done, checkpoint.done + OBJECTS_PER_STEP);
  await mapConcurrently(due, OBJECTS_AT_A_TIME, async (file) => {
    if (await to.has(file)) return;
    const bytes = await from.read(file);
    if (bytes === null) lacking(file);
    else await to.write(file, bytes);
  });
  return countUp(checkpoint, due.length, files.length);
}
