import type { Run } from "../../src/schemas/run.ts";
import { gunzipSync } from "node:zlib";
import { manifestSchema } from "../../src/parts/manifest-schema.ts";
import { timeOfId } from "../../src/schemas/backup.ts";
import { manifestText, parseManifest } from "../../src/backup/format.ts";
import { backupManifestKey, backupPartKey } from "../../src/storage/keys.ts";
import { timeText } from "../../src/platform/time.ts";
import type { BackupContent } from "./evidence.ts";

/** Reads what a backup says of the ingest from its parts, without the code that restores it. */
export async function readBackupContent(bucket: R2Bucket, id: string): Promise<BackupContent> {
  const folder = `backups/${id}/parts/`;
  const { objects } = await bucket.list({ prefix: folder, limit: 1000 });
  const linesOf = async (name: string) => {
    const lines: Line[] = [];
    for (const { key } of objects.filter((object) => object.key.startsWith(`${folder}${name}.`)))
      lines.push(...(await readLines(await bucket.get(key))));
    return lines;
  };
  const manifests = (await linesOf("state")).flatMap(({ version }) => {
    const parsed = manifestSchema.safeParse(version);
    return parsed.success ? [parsed.data] : [];
  });
  return {
    rows: (await linesOf("d1.ingest_runs")).map((row): Run => JSON.parse(String(row["run"]))),
    audit: (await linesOf("d1.audit")).map((row) => String(row["id"])),
    manifests: manifests.toSorted((a, b) => a.generation - b.generation),
  };
}

/** Copies a backup as that of another time, as one comes from a machine whose clock is another. */
export async function copyBackup(
  bucket: R2Bucket,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const manifest = await bucket.get(backupManifestKey(from));
  const parsed = parseManifest((await manifest?.text()) ?? null, from);
  if (!parsed.ok) return;
  const { objects } = await bucket.list({ prefix: backupPartKey(from, ""), limit: 1000 });
  for (const { key } of objects) {
    const name = key.slice(backupPartKey(from, "").length);
    const part = await bucket.get(key);
    if (part !== null) await bucket.put(backupPartKey(to, name), await part.arrayBuffer());
  }
  const laterMs = timeOfId(to) - timeOfId(from);
  const later = (time: string) => timeText(Date.parse(time) + laterMs);
  const { started_at, finished_at } = parsed.manifest;
  const times = { started_at: later(started_at), finished_at: later(finished_at) };
  await bucket.put(backupManifestKey(to), manifestText({ ...parsed.manifest, id: to, ...times }));
}

interface Line {
  readonly [column: string]: unknown;
}

async function readLines(object: R2ObjectBody | null): Promise<Line[]> {
  if (object === null) return [];
  const text = gunzipSync(await object.arrayBuffer()).toString();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): Line => JSON.parse(line));
}
