import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

export const STATE_ARCHIVE = join(import.meta.dirname, "stored-state.tar.br");
export const STATE_FACTS = join(import.meta.dirname, "stored-state.json");

/** What made the stored state, and what is in it. */
export interface Made {
  readonly commit: string;
  /** The generation that it serves. */
  readonly generation: number;
  /** Id of a verified backup. */
  readonly backup: string;
}

/** Puts the stored state where a service in the folder finds it. */
export function unpackStoredState(folder: string): Made {
  const input = brotliDecompressSync(readFileSync(STATE_ARCHIVE));
  const { status, stderr } = spawnSync("tar", ["-xf", "-", "-C", folder], { input });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(readFileSync(STATE_FACTS, "utf8"));
}
