import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";

export interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
  /** Configuration files that it has not removed. */
  readonly leftBehind: readonly string[];
}

export interface DeployRun {
  /** The folders in which programs are found first. */
  readonly path: string;
  readonly env?: { readonly [name: string]: string };
  /** A text of its output at which it is interrupted. */
  readonly until?: string;
}

/** `npm run deploy` as its user sees it, without a terminal. */
export async function runDeploy(
  args: readonly string[],
  { path, env = {}, until }: DeployRun,
): Promise<Ended> {
  const PATH = `${path}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const { ADMIN_TOKEN: _token, CLOUDFLARE_API_TOKEN: _apiToken, ...others } = process.env;
  const child = spawn(process.execPath, ["scripts/deploy.ts", ...args], {
    env: { ...others, WRANGLER_SEND_METRICS: "false", ...env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let seen = "";
  child.stdout.on("data", (chunk) => {
    if (until === undefined || seen.includes(until)) return;
    seen += String(chunk);
    // Once: a second signal would kill it while it exits.
    if (seen.includes(until)) child.kill("SIGINT");
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  const leftBehind = readdirSync(".").filter(
    (name) => name.startsWith(".wrangler-deploy-") && name.endsWith(`-${child.pid}.json`),
  );
  return { code, stdout, stderr, leftBehind };
}
