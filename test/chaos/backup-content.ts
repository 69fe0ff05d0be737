import { gunzipSync } from "node:zlib";
import type { Manifest } from "../../src/catalog/manifest.ts";
import type { RunRecord } from "../../src/ingest/run-record.ts";
import type { BackupContent, RunRow } from "./evidence.ts";

/** Reads what a backup says of the ingest from its parts, without the code that restores it. */
export async function readBackupContent(archive: R2Bucket, id: string): Promise<BackupContent> {
  const folder = `backups/${id}/parts/`;
  const { objects } = await archive.list({ prefix: folder, limit: 1000 });
  const linesOf = async (name: string) => {
    const lines: Line[] = [];
    for (const { key } of objects.filter((each) => each.key.startsWith(`${folder}${name}.`)))
      lines.push(...(await readLines(await archive.get(key))));
    return lines;
  };
  const state = (await linesOf("state")) as unknown as StateLine[]; // the format of a backup
  const texts = (table: string, column: string) =>
    state.filter((line) => line.table === table).map(({ row }) => row[column] ?? "");
  const manifests = texts("versions", "manifest").map((text): Manifest => JSON.parse(text));
  return {
    rows: (await linesOf("d1.ingest_runs")) as unknown as RunRow[], // the table's columns
    audit: (await linesOf("d1.audit")).map((row) => String(row["id"])),
    runs: texts("runs", "record").map((text) => (JSON.parse(text) as RunRecord).run), // our record
    manifests: manifests.toSorted((a, b) => a.generation - b.generation),
  };
}

interface Line {
  readonly [column: string]: unknown;
}

interface StateLine {
  readonly table: string;
  readonly row: { readonly [column: string]: string };
}

async function readLines(object: R2ObjectBody | null): Promise<Line[]> {
  if (object === null) return [];
  const text = gunzipSync(await object.arrayBuffer()).toString();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): Line => JSON.parse(line));
}
