import { readFileSync } from "node:fs";

const MODULES = new URL("./node_modules/", import.meta.url);

/** The location of a file that an installed package ships. */
export function packageFile(path: string): URL {
  return new URL(path, MODULES);
}

/** The text of a file that an installed package ships. */
export function readPackageText(path: string): string {
  return readFileSync(packageFile(path), "utf8");
}

/**
 * A JSON file that an installed package ships.
 * The caller names the type; the pinned version and the checks at the end of the build stand for it.
 */
export function readPackageJson<T>(path: string): T {
  return JSON.parse(readPackageText(path)) as T;
}
