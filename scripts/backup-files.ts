import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BackupManifest } from "../src/backup/format.ts";

/** A file of a backup, on the disk and in an installation. */
export interface BackupFile {
  readonly kind: "part" | "object";
  /** Relative to the backup's folder on the disk. */
  readonly path: string;
  /** Path of its admin route. */
  readonly route: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Every file that a manifest names. */
export function filesOf({ id, parts, objects }: BackupManifest): BackupFile[] {
  return [
    ...objects.map(({ sha256, bytes }): BackupFile => ({
      kind: "object",
      path: join("objects", sha256),
      route: `/admin/backup/objects/${sha256}`,
      sha256,
      bytes,
    })),
    ...parts.map(({ name, sha256, bytes }): BackupFile => ({
      kind: "part",
      path: join("parts", name),
      route: `/admin/backup/${id}/parts/${name}`,
      sha256,
      bytes,
    })),
  ];
}

/** SHA-256 (hex) of a file; undefined if there is none. */
export async function hashFile(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Writes a file as its bytes arrive; it has its name only once they have the hash. */
export async function writeChecked(
  path: string,
  body: ReadableStream<Uint8Array>,
  sha256: string,
): Promise<boolean> {
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Uint8Array, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const partial = `${path}.partial`;
  await pipeline(Readable.from(body), hashing, createWriteStream(partial));
  if (hash.digest("hex") !== sha256) return false;
  await rename(partial, path);
  return true;
}
