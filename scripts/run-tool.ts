import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";

/** How a command ended. */
export interface ToolEnd {
  readonly ok: boolean;
  readonly stdout: string;
  /** Its last lines on both streams, for a person to read. */
  readonly lastLines: string;
}

export interface Tool {
  /** The program and the arguments that come before all others. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** Ends the command when it aborts. */
  readonly signal: AbortSignal;
}

/** Lines of output that explain a failure. */
const LAST_LINES = 25;

/** Runs a command to its end, with nothing on its standard input. */
export async function runTool(tool: Tool, args: readonly string[]): Promise<ToolEnd> {
  const [program, ...first] = tool.command;
  const { env, signal } = tool;
  signal.throwIfAborted();
  const child = spawn(program, [...first, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const stop = () => void child.kill();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { ok: code === 0, stdout, lastLines: lastLines(`${stdout}\n${stderr}`) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function lastLines(output: string): string {
  const lines = stripVTControlCharacters(output).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .slice(-LAST_LINES)
    .join("\n");
}
