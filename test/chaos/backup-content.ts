import type { Run } from "../../src/coordinator/run.ts";
import { gunzipSync } from "node:zlib";
import { manifestSchema } from "../../src/catalog/manifest-schema.ts";
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
