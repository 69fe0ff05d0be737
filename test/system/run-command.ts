import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, resolve } from "node:path";
import { text } from "node:stream/consumers";

/** Runs a command to its end; the tools of this project are found first. */
export async function runCommand(command: string, ...args: readonly string[]) {
  const bin = resolve("node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: Number(code), stdout, stderr };
}
