import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FIRST_CHECKPOINT } from "../../src/ingest/checkpoint.ts";
import type { RunRecord } from "../../src/ingest/run-record.ts";
import { isOpen } from "../../src/jobs/job-record.ts";

/**
 * What the coordinator has stored of the newest run, from a copy, so that its own storage is left
 * alone. Undefined if there is none, or if the copy was made in the middle of a write.
 */
export function readRecord(stateFolder: string): RunRecord | undefined {
  const storage = join(stateFolder, "v3", "do", "locations-IngestCoordinator");
  const copy = mkdtempSync(join(tmpdir(), "locations-frozen-"));
  try {
    for (const name of readdirSync(storage).filter((file) => !file.endsWith("-shm")))
      copyFileSync(join(storage, name), join(copy, name));
    const [record] = readdirSync(copy)
      .filter((name) => name.endsWith(".sqlite"))
      .flatMap((name) => selectRecord(join(copy, name)));
    return record;
  } catch {
    return undefined;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function selectRecord(file: string): RunRecord[] {
  const database = new DatabaseSync(file);
  try {
    const hasJobs = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").get();
    if (hasJobs === undefined) return [];
    const rows = database
      .prepare("SELECT record FROM jobs WHERE work = 'ingest' ORDER BY id DESC LIMIT 1")
      .all();
    return rows.map((row) => {
      const record: RunRecord = JSON.parse(String(row["record"]));
      // A run that has ended keeps no checkpoint.
      return isOpen(record.job.state) ? record : { ...record, checkpoint: FIRST_CHECKPOINT };
    });
  } finally {
    database.close();
  }
}

/** Rows of the history in D1, oldest first, while nobody serves from the folder. */
export function readHistory(stateFolder: string): unknown[] {
  const storage = join(stateFolder, "v3", "d1", "miniflare-D1DatabaseObject");
  return readdirSync(storage)
    .filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite")
    .flatMap((name) => {
      const database = new DatabaseSync(join(storage, name), { readOnly: true });
      try {
        const rows = database.prepare("SELECT run FROM ingest_runs ORDER BY id").all();
        return rows.map(({ run }) => JSON.parse(String(run)));
      } finally {
        database.close();
      }
    });
}
