import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A step of the start that failed; the message says which, why and what to do. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface LocalWorkerOptions {
  readonly port: number;
  readonly locales: string;
  readonly stateFolder: string;
  /** Value of the secret ADMIN_TOKENS. */
  readonly adminTokens: string;
  readonly say: (line: string) => void;
}

const READY_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 5_000;
const POLL_MS = 200;
/** Lines of the Worker's output that are kept to explain a failure. */
const OUTPUT_LINES_KEPT = 40;

const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_LOG: "warn",
  NO_COLOR: "1",
  CI: "1",
};

/** The service in workerd on this machine, as a process group of its own. */
export class LocalWorker {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #output: string[];
  #stopping = false;

  private constructor(url: string, child: ChildProcess, output: string[]) {
    this.url = url;
    this.#child = child;
    this.#output = output;
  }

  /**
   * Applies the migrations, starts the Worker and waits until it answers.
   *
   * @throws StartError that names the step which failed.
   */
  static async start(options: LocalWorkerOptions): Promise<LocalWorker> {
    const { port, locales, stateFolder, adminTokens, say } = options;
    await assertPortIsFree(port);
    say("Applying migrations …");
    await applyMigrations(stateFolder);
    say("Starting the Worker …");
    mkdirSync(".wrangler", { recursive: true });
    const secrets = ".wrangler/local-secrets.env";
    writeFileSync(secrets, `ADMIN_TOKENS='${adminTokens}'\n`, { mode: 0o600 });
    const child = spawnWrangler([
      "dev",
      "--ip=127.0.0.1",
      `--port=${port}`,
      "--inspector-port=0",
      `--persist-to=${stateFolder}`,
      `--env-file=${secrets}`,
      `--var=LOCALES:${locales}`,
      "--show-interactive-dev-session=false",
    ]);
    const worker = new LocalWorker(`http://127.0.0.1:${port}`, child, keepOutput(child));
    await worker.#waitUntilReady();
    return worker;
  }

  /** Settles when the Worker has ended; rejects with StartError if nobody stopped it. */
  get ended(): Promise<void> {
    return this.#child.exitCode === null
      ? once(this.#child, "exit").then(() => this.#assertStopped())
      : Promise.resolve(this.#assertStopped());
  }

  /** Throws StartError if the Worker has ended by itself. */
  assertAlive(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return;
    this.#assertStopped();
  }

  /** The last lines that the Worker wrote. */
  get output(): string {
    return this.#output.join("\n");
  }

  /** Ends the Worker and everything that it started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const exited = this.#child.exitCode === null ? once(this.#child, "exit") : Promise.resolve();
    this.#signal("SIGTERM");
    await Promise.race([exited, sleep(STOP_DEADLINE_MS, undefined, { ref: false })]);
    this.#signal("SIGKILL");
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended already.
    }
  }

  #assertStopped(): void {
    if (!this.#stopping) throw new StartError(`The Worker ended:\n${this.output}`);
  }

  async #waitUntilReady(): Promise<void> {
    const deadline = Date.now() + READY_DEADLINE_MS;
    while (Date.now() < deadline) {
      this.assertAlive();
      const answer = await fetch(`${this.url}/catalog/health`).catch(() => undefined);
      if (answer?.status === 200 || answer?.status === 503) return;
      await sleep(POLL_MS);
    }
    await this.stop();
    throw new StartError(`The Worker did not answer in time:\n${this.output}`);
  }
}

async function assertPortIsFree(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
    const why = code === "EADDRINUSE" ? "is taken by another process" : `cannot be used (${code})`;
    throw new StartError(`Port ${port} ${why}. Choose another: npm start -- --port ${port + 1}`);
  } finally {
    server.close();
  }
}

async function applyMigrations(stateFolder: string): Promise<void> {
  const child = spawnWrangler([
    "d1",
    "migrations",
    "apply",
    "HISTORY",
    "--local",
    "--persist-to",
    stateFolder,
  ]);
  const output = keepOutput(child);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new StartError(`Applying the D1 migrations failed:\n${output.join("\n")}`);
}

function spawnWrangler(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["node_modules/wrangler/bin/wrangler.js", ...args], {
    env: { ...process.env, ...QUIET },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

function keepOutput(child: ChildProcess): string[] {
  const lines: string[] = [];
  const keep = (chunk: Buffer) => {
    lines.push(
      ...chunk
        .toString()
        .split("\n")
        .filter((line) => line.trim() !== ""),
    );
    lines.splice(0, lines.length - OUTPUT_LINES_KEPT);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return lines;
}
