import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleWorker } from "../../bench/bundle.ts";

/** What to replace, and by what. */
export type Change = readonly [pattern: RegExp, replacement: string];

/** Later manifests and tables of the coordinator. This code reads the present ones, and converts them. */
export const LATER_STATE: readonly Change[] = [
  [/\bFORMER_FORMAT = 5;/g, "FORMER_FORMAT = 6;"],
  [/\bfromFormerLines\(stored\)/g, "fromLines(lines)"],
  [/\bMANIFEST_FORMAT = 6;/g, "MANIFEST_FORMAT = 7;"],
  [
    /(COORDINATOR_SCHEMA = \[[^;]+?\])\s*\];/g,
    `$1, ["UPDATE versions SET manifest = json_set(manifest, '$.format', 7)"]];`,
  ],
];

/**
 * Makes a bundle of the Worker as another version would be: the present one, changed.
 *
 * @throws if there is nothing of a change in it.
 */
export function otherBundle(folder: string, changes: readonly Change[]): string {
  bundleWorker("test/chaos/worker.ts", folder, { minify: false });
  const file = join(folder, "worker.js");
  let code = readFileSync(file, "utf8");
  for (const [pattern, replacement] of changes) {
    const changed = code.replaceAll(pattern, replacement);
    if (changed === code) throw new Error(`there is no ${pattern} in the bundle`);
    code = changed;
  }
  writeFileSync(file, code);
  return folder;
}
