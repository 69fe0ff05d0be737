import { locales, snapshot as sha256, sources } from "../../data/snapshot/manifest.json";
import type { Snapshot } from "./snapshot.ts";

/**
 * Makes the snapshot that was deployed with this Worker, as static assets; see `data/README.md`. It is
 * not in the bundle, because each new isolate loads that. The path of a file names the snapshot, so no
 * other one is ever read.
 *
 * @param readAsset reads an asset by its path.
 */
export function embeddedSnapshot(readAsset: (path: string) => Promise<ArrayBuffer>): Snapshot {
  return { read: (name) => readAsset(`snapshot/${sha256}/${name}`), sha256, locales, sources };
}
