import { locales, snapshot as sha256, sources } from "../../data/snapshot/manifest.json";
import { orStoreError } from "../platform/deadline.ts";
import { readAsset } from "./static-assets.ts";

const SNAPSHOT_DEADLINE_MS = 60_000;

/**
 * Opens the snapshot that was deployed with this Worker, as static assets; see `data/README.md`. It is
 * not in the bundle, because each new isolate loads the bundle. The path of a file names the snapshot,
 * so no other snapshot is ever read. Reading throws StoreError.
 */
export function embeddedSnapshot(assets: Pick<Fetcher, "fetch">) {
  return {
    sha256,
    locales,
    sources,
    read(name: string): Promise<ArrayBuffer> {
      const path = `snapshot/${sha256}/${name}`;
      return orStoreError(path, SNAPSHOT_DEADLINE_MS, readAsset(assets, path));
    },
  };
}
