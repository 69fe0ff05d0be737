import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Path of an installed Chromium or Chrome: the variable CHROMIUM, else what PATH has; undefined if none. */
export function findBrowser(): string | undefined {
  const { CHROMIUM, PATH = "" } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const candidates = PATH.split(delimiter).flatMap((folder) =>
    NAMES.map((name) => join(folder, name)),
  );
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
