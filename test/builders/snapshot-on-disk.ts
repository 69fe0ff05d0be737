/** The embedded snapshot, read from `data/snapshot` as the bundler reads it. Node only. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import type { Snapshot } from "../../src/sources/snapshot.ts";

const FOLDER = join(import.meta.dirname, "../../data/snapshot");

export { manifest as snapshotManifest };

/** Names of the snapshot's data files, in order. */
export const snapshotFileNames: readonly string[] = readdirSync(FOLDER, { recursive: true })
  .map((name) => String(name).replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".gz"))
  .toSorted();

export function readSnapshotFile(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(FOLDER, name)));
}

export const snapshotOnDisk: Snapshot = {
  read: async (name) => readSnapshotFile(name).buffer,
  sha256: manifest.snapshot,
  locales: manifest.locales,
  sources: manifest.sources,
};
