import { EventEmitter, once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "./command.ts";
import { ingest, type IngestEnd, type IngestOptions } from "./ingest-progress.ts";
import type { Build, Firing, ServerOptions } from "./local-server.ts";
import { LOCAL_SETTINGS } from "./local-settings.ts";
import { ProcessGroup } from "./process-group.ts";
import { adminCaller } from "./service-call.ts";
import { claimStateFolder, type StateFolder } from "./state-folder.ts";

interface LocalWorkerOptions {
  readonly port: number;
  readonly locales: string;
  readonly stateFolder: string;
  /** Delete the stored data. */
  readonly fresh: boolean;
  /** Value of the secret ADMIN_TOKENS. */
  readonly adminTokens: string;
  /** Further settings, by their names. */
  readonly vars?: { readonly [name: string]: string };
  readonly say: (line: string) => void;
  /** Follows the Worker's log. Returns a function that stops. */
  readonly follow: (logFile: string) => () => void;
  /** Ends everything when it aborts. */
  readonly signal: AbortSignal;
}

type LocalIngestOptions = Pick<IngestOptions, "patienceMs" | "signal" | "out">;

/** Always looks for a new version, so that a published one is served at once. */
const LOCAL_FRESH_MS = 100;
/** Bounds a hang only: on a busy machine a start takes minutes. */
const READY_DEADLINE_MS = 600_000;
const INGEST_POLL_MS = 100;
/** Maximum number of changed files that are named. */
const NAMED_FILES = 3;

const SERVER_ENV = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_LOG: "error",
  WRANGLER_WRITE_LOGS: "false",
  NO_COLOR: "1",
  CI: "1",
};

/** The service in workerd on this machine, as a separate process group. */
export class LocalWorker {
  readonly url: string;
  readonly #folder: StateFolder;
  readonly #group: ProcessGroup;
  readonly #say: (line: string) => void;
  readonly #stopFollowing: () => void;
  readonly #firstBuild = Promise.withResolvers<Build>();
  readonly #fired = new EventEmitter();
  #stopping = false;

  private constructor(options: LocalWorkerOptions, folder: StateFolder) {
    const { port, locales, adminTokens, vars, say, follow, signal } = options;
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#say = say;
    this.#group = new ProcessGroup("scripts/local-server.ts", {
      env: { ...process.env, ...SERVER_ENV },
      logFile: folder.logFile,
      onMessage: (message) => this.#hear(message),
      signal,
    });
    const settings = {
      LOCALES: locales,
      MANIFEST_FRESH_MS: String(LOCAL_FRESH_MS),
      ...LOCAL_SETTINGS,
      SERVICE_URL: this.url,
      ...vars,
      ADMIN_TOKENS: adminTokens,
    };
    this.#group.send({ port, stateFolder: folder.path, vars: settings } satisfies ServerOptions);
    this.#stopFollowing = follow(folder.logFile);
  }

  /**
   * Builds the pages, starts the Worker and waits until it answers.
   *
   * @throws CommandError that says what failed.
   */
  static async start(options: LocalWorkerOptions): Promise<LocalWorker> {
    const { port, stateFolder, fresh, say } = options;
    await assertPortIsFree(port);
    const folder = claimStateFolder(stateFolder, { fresh });
    try {
      say("Building the pages and starting the Worker …");
      const worker = new LocalWorker(options, folder);
      await worker.#untilReady();
      return worker;
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  /** The Worker's log. */
  get logFile(): string {
    return this.#folder.logFile;
  }

  /** Advice for unusable stored data. */
  get wayOut(): string {
    return this.#folder.wayOut();
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

  /** Fires a cron trigger, and waits for its end. The Worker logs a failure. */
  async fire(cron: string): Promise<void> {
    const fired = once(this.#fired, cron);
    this.#group.send({ cron } satisfies Firing);
    await Promise.race([fired, this.#group.exited]);
  }

  #assertAlive(): void {
    if (this.#group.isAlive) return;
    if (this.#stopping) throw new CommandError("The Worker was stopped.");
    throw new CommandError(
      `The Worker has ended by itself. Start it again: npm start\nThe log says more: ${this.logFile}`,
    );
  }

  /** Ends the Worker and everything that it started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#group.stop();
    this.#stopFollowing();
    this.#folder.release();
  }

  async #untilReady(): Promise<void> {
    try {
      const deadline = sleep(READY_DEADLINE_MS, undefined, { ref: false });
      const end = this.#group.exited.then(() => undefined);
      const build = await Promise.race([this.#firstBuild.promise, end, deadline]);
      if (build === undefined) this.#assertAlive();
      const problem = build === undefined ? "It does not answer." : build.problem;
      if (problem !== null) throw new CommandError(this.#describeFailure(problem, build));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** An error of compilation is no fault of the stored data. */
  #describeFailure(problem: string, build: Build | undefined): string {
    if (build?.isBuilt === false) return problem;
    const { path, databaseFolder } = this.#folder;
    const lesser = `To delete the history only, which keeps the catalog and the backups: rm -r ${databaseFolder}\n`;
    return `The Worker does not start: its code fails, or what is stored in ${path} is damaged.
${problem}
${this.#folder.wayOut(lesser)}`;
  }

  #hear(message: object): void {
    if ("cron" in message) return void this.#fired.emit(String(message.cron));
    const build = message as Build; // there is no other message
    this.#firstBuild.resolve(build);
    if (build.changed.length > 0) this.#say(describeBuild(build));
  }
}

function describeBuild({ changed, problem }: Build): string {
  const more = changed.length - NAMED_FILES;
  const names = changed.slice(0, NAMED_FILES).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const time = new Date().toTimeString().slice(0, 8);
  return problem === null
    ? `${time} The Worker runs with the change of ${names}`
    : `${time} The Worker runs without the change of ${names}, until this is fixed:\n${problem}`;
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
