import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { type FakeCloudflare, fakeCloudflare } from "./fake-cloudflare.ts";

export interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly env?: { readonly [name: string]: string };
  /** Where https://….workers.dev is. */
  readonly workersDev?: string;
  /** A text of its output at which it is interrupted. */
  readonly until?: string;
  /** Whether it runs on a terminal; all output is standard output then. */
  readonly isTerminal?: boolean;
}

const IMPORT_WORKERS_DEV = `--import=${pathToFileURL(join(import.meta.dirname, "workers-dev.ts")).href}`;

/** The real script and the real wrangler, in the home of somebody with an account of the fake. */
export class DeployWorld {
  readonly cloudflare: FakeCloudflare;
  readonly #home = mkdtempSync(join(tmpdir(), "locations-home-"));

  private constructor(cloudflare: FakeCloudflare) {
    this.cloudflare = cloudflare;
    symlinkSync(resolve("node_modules/.bin/wrangler"), join(this.#home, "wrangler"));
    // The check before a deployment takes long, and other tests have it.
    writeFileSync(join(this.#home, "npm"), "#!/bin/sh\nexit $NPM_EXIT\n", { mode: 0o755 });
  }

  static async start(): Promise<DeployWorld> {
    return new DeployWorld(await fakeCloudflare());
  }

  /** `npm run deploy`, as its user sees it. */
  deploy(args: readonly string[] = [], options: RunOptions = {}): Promise<Ended> {
    return this.#run([process.execPath, "scripts/deploy.ts", ...args], options);
  }

  wrangler(...args: readonly string[]): Promise<Ended> {
    return this.#run(["wrangler", ...args], {});
  }

  /** A file in its home, such as one with secrets. */
  file(name: string, content: string): string {
    writeFileSync(join(this.#home, name), content);
    return join(this.#home, name);
  }

  async stop(): Promise<void> {
    await this.cloudflare.stop();
    rmSync(this.#home, { recursive: true });
  }

  async #run(command: readonly string[], { env, workersDev, until, isTerminal }: RunOptions) {
    const { ADMIN_TOKEN: _token, CI: _ci, ...others } = process.env;
    const [program = "", ...args] = isTerminal === true ? onTerminal(command) : command;
    const child = spawn(program, args, {
      env: {
        ...others,
        HOME: this.#home,
        XDG_CONFIG_HOME: this.#home,
        PATH: `${this.#home}:${dirname(process.execPath)}:/usr/bin:/bin`,
        NPM_EXIT: "0",
        WRANGLER_SEND_METRICS: "false",
        CLOUDFLARE_API_BASE_URL: this.cloudflare.url,
        CLOUDFLARE_API_TOKEN: "a-token-that-only-the-fake-takes",
        ...(workersDev !== undefined && {
          WORKERS_DEV: workersDev,
          NODE_OPTIONS: IMPORT_WORKERS_DEV,
        }),
        ...env,
      },
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
    const left = readdirSync(".").filter(isLeftBehind);
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    return { code, stdout, stderr };
  }
}

/** Whether it is the configuration of a deployment that has ended: others are under way. */
function isLeftBehind(name: string): boolean {
  const [, pid] = /^\.wrangler-deploy-(\d+)\.json$/.exec(name) ?? [];
  return pid !== undefined && !isAlive(Number(pid)) && existsSync(name);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The same command with a terminal of its own, by the `script` of Linux or of macOS. */
function onTerminal(command: readonly string[]): string[] {
  return process.platform === "darwin"
    ? ["script", "-q", "/dev/null", ...command]
    : ["script", "-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"];
}
