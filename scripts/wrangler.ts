import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool, type ToolEnd } from "./run-tool.ts";

/** How a command of wrangler ended, and what it reported for programs. */
export interface WranglerEnd extends ToolEnd {
  /** Entries of the output file (WRANGLER_OUTPUT_FILE_PATH), one for each thing it did. */
  readonly reports: readonly unknown[];
}

/** Runs one command of wrangler. */
export type Wrangler = (args: readonly string[]) => Promise<WranglerEnd>;

/** The wrangler of this clone. */
export const WRANGLER_SCRIPT = "node_modules/wrangler/bin/wrangler.js";

/**
 * Variables that must not reach wrangler: the first is a secret; the second would take precedence
 * over the file of secrets; the third would choose another environment than was asked for.
 */
const WITHHELD = ["ADMIN_TOKEN", "ADMIN_TOKENS", "CLOUDFLARE_ENV"];

/** Runs the wrangler whose script is at a path, as a process for each command. */
export function wranglerRunner(script: string, signal: AbortSignal): Wrangler {
  return async (args) => {
    const folder = mkdtempSync(join(tmpdir(), "locations-wrangler-"));
    const reportFile = join(folder, "output.ndjson");
    try {
      const env = wranglerEnv(reportFile);
      const end = await runTool({ command: [process.execPath, script], env, signal }, args);
      return { ...end, reports: readReports(reportFile) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

/** The variables that wrangler gets. */
export function wranglerEnv(reportFile: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    WRANGLER_OUTPUT_FILE_PATH: reportFile,
    WRANGLER_HIDE_BANNER: "true",
    NO_COLOR: "1",
    // Nobody could answer its questions.
    CI: "1",
  };
  for (const name of WITHHELD) Reflect.deleteProperty(env, name);
  return env;
}

function readReports(file: string): unknown[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}
