/**
 * Refuses wrong settings in wrangler.toml, and builds the pages that are the Worker's static assets,
 * unless nothing has changed since they were built. Wrangler runs it at its start, also of a
 * deployment, and whenever a file of `src/` or `web/` changes.
 */
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkVars } from "../../scripts/wrangler-vars.ts";

/** Its time is that at which the last build began. */
const STAMP = "dist/web-built";
/** Bounds a hang only. */
const LOCK_TIMEOUT_MS = 600_000;
/** Files and folders that the pages are made of. */
const INPUTS = [
  "README.md",
  "LICENSE",
  "client/README.md",
  "client/build.ts",
  "client/package.json",
  "client/src",
  "client/tsconfig.json",
  "data/NOTICE.md",
  "data/curated/closed-airports.csv",
  "data/curated/tourist-places.csv",
  "data/curated/resorts.csv",
  "data/map",
  "data/search",
  "data/snapshot",
  "docs",
  "gen",
  "package-lock.json",
  "proto",
  "scripts/wrangler-vars.ts",
  "src",
  "web",
];

const problems = checkVars();
if (problems.length > 0) {
  process.stderr.write(
    `${problems.join("\n")}\nAll settings: docs/deploying.md and docs/alerts.md\n`,
  );
  process.exit(1);
}

// One build at a time: another one waits, and finds that nothing is left to do. The system frees the lock.
mkdirSync("dist", { recursive: true });
const lock = new DatabaseSync("dist/build-lock.sqlite", { timeout: LOCK_TIMEOUT_MS });
lock.exec("BEGIN EXCLUSIVE");

if (changedAt("dist/web") === 0 || INPUTS.some((path) => changedAt(path) >= changedAt(STAMP))) {
  const began = new Date();
  await import("./pages.ts");
  writeFileSync(STAMP, "");
  utimesSync(STAMP, began, began);
}
lock.close();

/** When a file, or anything in a folder, was last changed or deleted; 0 if it does not exist. */
function changedAt(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stats?.mtimeMs ?? 0;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}
