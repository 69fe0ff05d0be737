import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Files and folders that the pages are made of. */
export const INPUTS: readonly string[] = [
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

/** Every file of these paths, with the time at which it was last changed (ms since 1970). */
export function listFiles(paths: readonly string[]): Map<string, number> {
  return new Map(paths.flatMap(listFile));
}

function listFile(path: string): [path: string, modifiedMs: number][] {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory()) return [[path, stats.mtimeMs]];
    return readdirSync(path).flatMap((name) => listFile(join(path, name)));
  } catch {
    // It has been removed.
    return [];
  }
}
