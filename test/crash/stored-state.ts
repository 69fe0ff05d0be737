import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/**
 * The state of the last release, or the last one of format 3, before the first release: whose
 * manifests count as absent.
 */
type StateName = "stored-state" | "format-3-state";

const fileOf = (name: string) => join(import.meta.dirname, name);
export const STATE_ARCHIVE = fileOf("stored-state.tar.br");
export const STATE_FACTS = fileOf("stored-state.json");

/** What made the stored state, and what is in it. */
export interface Made {
  readonly commit: string;
  /** The generation that it serves. */
  readonly generation: number;
  /** Id of a verified backup. */
  readonly backup: string;
}

/** Puts a stored state where a service in the folder finds it. */
export function unpackStoredState(folder: string, name: StateName): Made {
  const input = brotliDecompressSync(readFileSync(fileOf(`${name}.tar.br`)));
  const { status, stderr } = spawnSync("tar", ["-xf", "-", "-C", folder], { input });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(readFileSync(fileOf(`${name}.json`), "utf8"));
}
