import { snapshotFiles } from "../../data/snapshot/index.ts";
import manifest from "../../data/snapshot/manifest.json";
import type { Snapshot } from "./snapshot.ts";

/** The snapshot in the Worker's bundle; see `data/README.md`. */
export const embeddedSnapshot: Snapshot = {
  files: snapshotFiles,
  sha256: manifest.snapshot,
  locales: manifest.locales,
  sources: manifest.sources,
};
