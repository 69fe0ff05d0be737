import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** An isolate has 128 MB: the rest is for buffers, which are outside of the heap. */
const HEAP_MEGABYTES = 96;

it(`builds, judges and encodes ten times the world within ${HEAP_MEGABYTES} MB of heap`, async () => {
  const script = join(import.meta.dirname, "ingest-ten-worlds.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    "--max-semi-space-size=2",
    script,
  ]);
  expect(JSON.parse(stdout)).toEqual({
    counts: { airports: 90_740, cities: 85_700, countries: 250, regions: 21_258 },
    broken: [],
  });
}, 600_000);
