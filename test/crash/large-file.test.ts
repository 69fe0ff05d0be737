import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { snapshotManifest } from "../builders/snapshot-on-disk.ts";

const HEAP_MEGABYTES = 64;

it(`reads 84,000 rows, compares them with those before, and builds their catalog within ${HEAP_MEGABYTES} MB of heap`, async () => {
  const script = join(import.meta.dirname, "ingest-large-file.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    script,
  ]);
  const { bytes, held, ...rest } = JSON.parse(stdout);
  expect(bytes).toBeGreaterThan(12e6);
  expect(held).toBeGreaterThan(400);
  const { airports, regions } = snapshotManifest.counts;
  expect(rest).toEqual({
    seen: 84_000,
    filtered: 84_000 - airports,
    airports,
    regions,
  });
});
