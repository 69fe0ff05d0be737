/** Runs the wrangler of this clone, and explains its failures. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { parseJson } from "../src/parse-json.ts";
import { CommandError } from "./command.ts";

interface WranglerOptions {
  readonly signal: AbortSignal;
  /** Whether its user sees what it prints and answers what it asks; otherwise both are left out. */
  readonly isShown: boolean;
}

export interface WranglerEnd {
  readonly ok: boolean;
  /** Empty if it was shown. */
  readonly stdout: string;
  readonly stderr: string;
  /** Where the Worker is served, after a deployment. */
  readonly targets: readonly string[];
  /** Code of Cloudflare's API and message of a failure. */
  readonly failure: { readonly code?: unknown; readonly message: string } | undefined;
}

/** Variables that would take precedence over the given secrets and environment. */
const WITHHELD = ["ADMIN_TOKEN", "ADMIN_TOKENS", "CLOUDFLARE_ENV"];

const reportLine = z.union([
  z.object({ type: z.literal("deploy"), targets: z.array(z.string()).default([]) }),
  z.object({
    type: z.literal("command-failed"),
    code: z.unknown().optional(),
    message: z.string(),
  }),
]);

export async function runWrangler(
  args: readonly string[],
  { signal, isShown }: WranglerOptions,
): Promise<WranglerEnd> {
  const folder = mkdtempSync(join(tmpdir(), "locations-wrangler-"));
  const reportFile = join(folder, "report.ndjson");
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_OUTPUT_FILE_PATH: reportFile,
    NO_COLOR: "1",
  };
  for (const name of WITHHELD) Reflect.deleteProperty(env, name);
  try {
    const child = spawn("wrangler", args, {
      env,
      signal,
      stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    const [[code], stdout, stderr] = await Promise.all([
      once(child, "close"),
      child.stdout === null ? "" : text(child.stdout),
      child.stderr === null ? "" : text(child.stderr),
    ]);
    const report = (existsSync(reportFile) ? readFileSync(reportFile, "utf8") : "")
      .split("\n")
      .flatMap((line) => reportLine.safeParse(parseJson(line)).data ?? []);
    return {
      ok: code === 0,
      stdout,
      stderr,
      targets: report.flatMap((line) => (line.type === "deploy" ? line.targets : [])),
      failure: report.find((line) => line.type === "command-failed"),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const LOGIN =
  'Log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token that may edit Workers Scripts, KV, R2 and D1. Where there are several accounts, set CLOUDFLARE_ACCOUNT_ID.';
const PLAN =
  "The account needs the Workers Paid plan: https://dash.cloudflare.com/?to=/:account/workers/plans";

const R2 =
  "R2 has to be enabled once (https://dash.cloudflare.com/?to=/:account/r2), and a token must be allowed to edit it.";

/** What to do about an error of Cloudflare's API, by its code. */
const ADVICE: { readonly [code: string]: string } = {
  9106: LOGIN,
  9109: LOGIN,
  10000: LOGIN,
  10001: LOGIN,
  10027: PLAN,
  100328: PLAN,
  10042: R2,
  // Wrangler looks for a bucket, is refused, and goes on without it.
  10085: R2,
};

/** Says what failed, what Cloudflare answered, and what to do. */
export function wranglerError(
  args: readonly string[],
  { stdout, stderr, failure }: WranglerEnd,
  consequence: string,
): CommandError {
  const shown = `${stdout}${stderr}`.trim();
  const where = shown === "" ? "as shown above" : `and says:\n\n${shown}\n`;
  const problem = `"wrangler ${args.join(" ")}" failed, ${where}.`.replace("\n.", "\n");
  return new CommandError([problem, adviceFor(failure), consequence].filter(Boolean).join("\n"));
}

function adviceFor(failure: WranglerEnd["failure"]): string {
  if (failure === undefined) return "";
  const { code, message } = failure;
  const known = ADVICE[String(code)];
  if (known !== undefined) return known;
  if (typeof code === "number") return `Cloudflare answered error ${code}.`;
  if (message.includes("malformed response"))
    return "Cloudflare's API answered no JSON, as in an outage: https://www.cloudflarestatus.com";
  return /CLOUDFLARE_API_TOKEN|logged in|authenticat/i.test(message) ? LOGIN : "";
}
