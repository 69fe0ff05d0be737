import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "./command.ts";
import { ingest, type IngestEnd, type IngestOptions } from "./ingest-progress.ts";
import { ProcessGroup } from "./process-group.ts";
import { LOCAL_SETTINGS } from "./local-settings.ts";
import { followLog } from "./readable-log.ts";
import { adminCaller, callUrl } from "./service-call.ts";
import { SECRET_NAMES, SETTING_NAMES } from "../src/monitor/settings.ts";
import { claimStateFolder, type StateFolder } from "./state-folder.ts";
import { checkVars } from "./wrangler-vars.ts";

interface LocalWorkerOptions {
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
  /** Gets what the Worker logs for people, as it comes. */
  readonly show?: ((line: string) => void) | undefined;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

type LocalIngestOptions = Pick<IngestOptions, "patienceMs" | "signal">;

/** On one machine a new version is looked for at once, so that an ingest is seen when it ends. */
const LOCAL_FRESH_MS = 100;
/** Bounds a hang only: on a busy machine a start takes minutes. */
const READY_DEADLINE_MS = 600_000;
const READY_POLL_MS = 100;
const INGEST_POLL_MS = 100;

const WRANGLER_ENV = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // It would double the CPU time of a request, and store each request where nobody deletes it.
  X_LOCAL_OBSERVABILITY: "false",
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
  readonly #stopShowing: () => void;
  #stopping = false;

  private constructor(
    { port, show }: LocalWorkerOptions,
    folder: StateFolder,
    group: ProcessGroup,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#group = group;
    this.#stopShowing = show === undefined ? () => {} : followLog(folder.logFile, show);
  }

  /**
   * Builds the pages, starts the Worker and waits until it answers.
   *
   * @throws CommandError that says what failed.
   */
  static async start(options: LocalWorkerOptions): Promise<LocalWorker> {
    const { port, locales, stateFolder, fresh, adminTokens, vars = {}, say, signal } = options;
    await assertPortIsFree(port);
    const folder = claimStateFolder(stateFolder, { fresh });
    try {
      const problems = checkVars();
      if (problems.length > 0) throw new CommandError(problems.join("\n"));
      say("Building the pages and starting the Worker …");
      // As JSON without what ends a quoted value, or is replaced in it.
      const quoted = adminTokens.replaceAll("'", "\\u0027").replaceAll("$", "\\u0024");
      writeFileSync(folder.secretsFile, `ADMIN_TOKENS='${quoted}'\n`, { mode: 0o600 });
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
        ...Object.entries({
          ...LOCAL_SETTINGS,
          SERVICE_URL: `http://127.0.0.1:${port}`,
          ...vars,
        }).map(([name, value]) => `--var=${name}:${value}`),
        "--show-interactive-dev-session=false",
      ];
      // Wrangler builds them too, when it is loaded: it waits for this build.
      const { logFile } = folder;
      const pages = new ProcessGroup("web/build/build.ts", [], {
        env: process.env,
        logFile,
        signal,
      });
      const worker = new LocalWorker(options, folder, startWrangler(args, folder, signal));
      try {
        await worker.#waitUntilReady();
      } finally {
        if (pages.isAlive) await pages.stop();
      }
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

  /** What to do where the stored data cannot be used. */
  get wayOut(): string {
    return this.#folder.wayOut;
  }

  /**
   * Settles when the Worker has been stopped.
   *
   * @throws CommandError if it ended by itself.
   */
  async untilEnd(): Promise<void> {
    await this.#group.exited;
    if (!this.#stopping) this.#assertAlive();
  }

  /**
   * Queues an ingest and shows its progress; see `ingest`.
   *
   * @throws CommandError when the Worker ends.
   */
  ingest(adminToken: string, options: LocalIngestOptions): Promise<IngestEnd> {
    return ingest({
      call: adminCaller(this.url, adminToken, options.signal),
      pollMs: INGEST_POLL_MS,
      assertAlive: () => this.#assertAlive(),
      ...options,
    });
  }

  /** Fires a cron trigger, which `wrangler dev` leaves to others. The Worker logs a failure. */
  async fire(cron: string): Promise<void> {
    const url = `${this.url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`;
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
  }

  #assertAlive(): void {
    if (this.#group.isAlive) return;
    if (this.#stopping) throw new CommandError("The Worker was stopped.");
    throw new CommandError(`The Worker has ended by itself. Start it again.\n${this.wayOut}`);
  }

  /** Ends the Worker and everything that it started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#group.stop();
    this.#stopShowing();
    this.#folder.release();
  }

  async #waitUntilReady(): Promise<void> {
    try {
      const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
      while (!deadline.aborted) {
        if (!this.#group.isAlive && !this.#stopping) throw new CommandError(this.#notStarted);
        this.#assertAlive();
        if (await this.#isReady(deadline)) return;
        await sleep(READY_POLL_MS);
      }
      const minutes = READY_DEADLINE_MS / 60_000;
      throw new CommandError(
        `The Worker has not answered for ${minutes} minutes since its start.\n${this.wayOut}`,
      );
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  get #notStarted(): string {
    return `The Worker does not start: it cannot be built, or what is stored in ${this.#folder.path} is damaged.
To delete the history only, which keeps the catalog and the backups: rm -r ${this.#folder.databaseFolder}
${this.wayOut}`;
  }

  /** Asks for what needs no store: health would remember that nothing is published yet. */
  async #isReady(signal: AbortSignal): Promise<boolean> {
    const answer = await fetch(callUrl(this.url), { method: "OPTIONS", signal }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer?.status !== 500) return answer?.ok ?? false;
    throw new CommandError(`The Worker fails at its start.\n${this.wayOut}`);
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
    throw new CommandError(`Port ${port} ${why}. Choose another: npm start -- --port N`);
  } finally {
    server.close();
  }
}

function startWrangler(
  args: readonly string[],
  folder: StateFolder,
  signal: AbortSignal,
): ProcessGroup {
  const env = { ...process.env, ...WRANGLER_ENV };
  // They would take precedence over the file of secrets and over settings.
  for (const name of [...SECRET_NAMES, ...SETTING_NAMES]) Reflect.deleteProperty(env, name);
  const script = "node_modules/wrangler/bin/wrangler.js";
  return new ProcessGroup(script, args, { env, logFile: folder.logFile, signal });
}
