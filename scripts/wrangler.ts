import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { CommandError } from "./command.ts";
import { MAY_UPLOAD } from "./wrangler-command.ts";

interface RunOptions {
  readonly signal: AbortSignal;
  /** What a failure means for the user. */
  readonly onFailure: string;
  /** Further variables of the environment. */
  readonly env?: { readonly [name: string]: string };
  /** Whether the program may ask the user; otherwise wrangler assumes its defaults. */
  readonly mayAsk?: boolean;
}

/** Variables that would take precedence over the given secrets and environment. */
const WITHHELD = ["ADMIN_TOKEN", "ADMIN_TOKENS", "CLOUDFLARE_ENV"];

/**
 * Runs a program of the PATH, whose output the user sees.
 *
 * @throws CommandError if it fails.
 */
export async function run(
  command: readonly [string, ...string[]],
  { signal, onFailure, env = {}, mayAsk = false }: RunOptions,
): Promise<void> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: { ...toolEnv(), ...env },
    signal,
    stdio: [mayAsk ? "inherit" : "ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "close");
  if (code !== 0)
    throw new CommandError(`"${command.join(" ")}" failed, as shown above. ${onFailure}`);
}

/** Runs a command of wrangler that only looks. */
export async function askWrangler(
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly stdout: string; readonly output: string }> {
  const child = spawn("wrangler", args, {
    env: toolEnv(),
    signal,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { ok: code === 0, stdout, output: `${stdout}${stderr}`.trim() };
}

function toolEnv(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...MAY_UPLOAD,
    WRANGLER_HIDE_BANNER: "true",
    NO_COLOR: "1",
  };
  for (const name of WITHHELD) Reflect.deleteProperty(env, name);
  return env;
}
