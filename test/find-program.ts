import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The one without a window first: it needs half the time. */
const BROWSERS = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];
/** Debian has servers where only root's PATH looks. */
const MORE_FOLDERS = ["/usr/sbin"];

/** Path of an installed Chromium or Chrome: the variable CHROMIUM, else what PATH has; undefined if none. */
export function findBrowser(): string | undefined {
  return process.env["CHROMIUM"] || findProgram(...BROWSERS);
}

/** Path of the first of these programs that PATH has; undefined if none. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...MORE_FOLDERS];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
