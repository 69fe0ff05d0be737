import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessGroup } from "./process-group.ts";
import { StartError } from "./start-error.ts";
import { claimStateFolder, type StateFolder } from "./state-folder.ts";

export interface LocalWorkerOptions {
  readonly port: number;
  readonly locales: string;
  readonly stateFolder: string;
  /** Forget what the folder has in store. */
  readonly fresh: boolean;
  /** Value of the secret ADMIN_TOKENS. */
  readonly adminTokens: string;
  /** Further settings, by their names. */
  readonly vars?: { readonly [name: string]: string };
  readonly say: (line: string) => void;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

/** On one machine a new version is looked for at once, so that an ingest is seen when it ends. */
const LOCAL_FRESH_MS = 500;
const READY_DEADLINE_MS = 60_000;
const POLL_MS = 200;
/** How often a running Worker is asked whether it is well, and how long it may be silent. */
const HEALTH_POLL_MS = 5_000;
const SILENCE_DEADLINE_MS = 120_000;

const WRANGLER_ENV = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // The Worker's own log lines have this level.
  WRANGLER_LOG: "log",
  NO_COLOR: "1",
  CI: "1",
};

/** The service in workerd on this machine, as a process group of its own. */
export class LocalWorker {
  readonly url: string;
  readonly #folder: StateFolder;
  readonly #group: ProcessGroup;
  #stopping = false;

  private constructor(url: string, folder: StateFolder, group: ProcessGroup) {
    this.url = url;
    this.#folder = folder;
    this.#group = group;
  }

  /**
   * Applies the migrations, starts the Worker and waits until it answers.
   *
   * @throws StartError that names the step which failed.
   */
  static async start(options: LocalWorkerOptions): Promise<LocalWorker> {
    const { port, locales, stateFolder, fresh, adminTokens, vars = {}, say, signal } = options;
    await assertPortIsFree(port);
    const folder = claimStateFolder(stateFolder, { fresh });
    try {
      say("Applying migrations …");
      await applyMigrations(folder, signal);
      signal.throwIfAborted();
      say("Starting the Worker …");
      writeFileSync(folder.secretsFile, `ADMIN_TOKENS='${adminTokens}'\n`, { mode: 0o600 });
      const args = [
        "dev",
        "--env=",
        "--ip=127.0.0.1",
        `--port=${port}`,
        "--inspector-port=0",
        `--persist-to=${folder.path}`,
        `--env-file=${folder.secretsFile}`,
        `--var=LOCALES:${locales}`,
        `--var=MANIFEST_FRESH_MS:${LOCAL_FRESH_MS}`,
        ...Object.entries(vars).map(([name, value]) => `--var=${name}:${value}`),
        "--show-interactive-dev-session=false",
      ];
      const worker = new LocalWorker(
        `http://127.0.0.1:${port}`,
        folder,
        startWrangler(args, folder, signal),
      );
      await worker.#waitUntilReady();
      return worker;
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  /** Everything that the Worker writes. */
  get logFile(): string {
    return this.#folder.logFile;
  }

  /**
   * Settles when the Worker has been stopped.
   *
   * @throws StartError if it ended by itself, or no longer answers though it was not stopped.
   */
  async untilEnd(): Promise<void> {
    let answeredAt = Date.now();
    while (!this.#stopping && this.#group.isAlive) {
      await Promise.race([this.#group.exited, sleep(HEALTH_POLL_MS, undefined, { ref: false })]);
      const answer = await this.#askHealth(AbortSignal.timeout(HEALTH_POLL_MS));
      if (answer !== undefined) answeredAt = Date.now();
      else if (this.#group.isAlive && Date.now() - answeredAt > SILENCE_DEADLINE_MS)
        throw new StartError(`The Worker no longer answers:\n${this.#group.lastLines}`);
    }
    this.assertAlive();
  }

  /** Throws StartError if the Worker has ended by itself. */
  assertAlive(): void {
    if (this.#group.isAlive || this.#stopping) return;
    throw new StartError(`The Worker ended:\n${this.#group.lastLines}`);
  }

  /** Ends the Worker and everything that it started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#group.stop();
    this.#folder.release();
  }

  async #waitUntilReady(): Promise<void> {
    try {
      const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
      while (!deadline.aborted) {
        this.assertAlive();
        if (await this.#isReady(deadline)) return;
        await sleep(POLL_MS);
      }
      throw new StartError(`The Worker did not answer in time:\n${this.#group.lastLines}`);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #isReady(signal: AbortSignal): Promise<boolean> {
    const answer = await this.#askHealth(signal);
    if (answer?.status === 500) throw new StartError(`The Worker fails:\n${await answer.text()}`);
    return answer?.status === 200 || answer?.status === 503;
  }

  #askHealth(signal: AbortSignal): Promise<Response | undefined> {
    return fetch(`${this.url}/catalog/health`, { signal }).catch(() => undefined);
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
    throw new StartError(`Port ${port} ${why}. Choose another: npm start -- --port N`);
  } finally {
    server.close();
  }
}

async function applyMigrations(folder: StateFolder, signal: AbortSignal): Promise<void> {
  const args = [
    "d1",
    "migrations",
    "apply",
    "HISTORY",
    "--local",
    "--env=",
    `--persist-to=${folder.path}`,
  ];
  const group = startWrangler(args, folder, signal);
  await group.exited;
  if (!group.succeeded)
    throw new StartError(`Applying the D1 migrations failed:\n${group.lastLines}`);
}

function startWrangler(
  args: readonly string[],
  folder: StateFolder,
  signal: AbortSignal,
): ProcessGroup {
  const env = { ...process.env, ...WRANGLER_ENV };
  // It would take precedence over the file of secrets.
  Reflect.deleteProperty(env, "ADMIN_TOKENS");
  const script = "node_modules/wrangler/bin/wrangler.js";
  return new ProcessGroup(script, args, { env, logFile: folder.logFile, signal });
}
