import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import type { Unstable_MiniflareWorkerOptions } from "wrangler";
import { bundleModules } from "../../bench/bundle.ts";

/** The Worker as a deploy would upload it, and what wrangler.toml binds to it. */
export interface WorkerBuild {
  readonly folder: string;
  readonly options: Omit<Unstable_MiniflareWorkerOptions["workerOptions"], "bindings">;
}

declare module "vitest" {
  interface ProvidedContext {
    build: WorkerBuild;
  }
}

export interface TestServiceOptions {
  readonly build: WorkerBuild;
  readonly locales: string;
  /** Further settings, by their names. */
  readonly vars?: { readonly [name: string]: string };
}

/** As `npm start` has it: an ingest is seen when it ends. */
const FRESH_MS = 500;
const POLL_MS = 50;

/** The fields of `GET /admin/ingest/runs/{id}` that tests use. */
export interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly finished_at: string | null;
  readonly upstream: { readonly [file: string]: { readonly etag?: string } };
  readonly counts: { readonly airports: object } | null;
  readonly error: { readonly code: string; readonly stage: string } | null;
}

/** The built Worker in workerd behind a socket, without the start of wrangler for each. */
export class TestService {
  /** Opens the admin routes. */
  readonly token = randomBytes(32).toString("base64url");
  readonly #folder = mkdtempSync(join(tmpdir(), "locations-service-"));
  readonly #options: TestServiceOptions;
  #miniflare: Miniflare | undefined;
  url = "";

  private constructor(options: TestServiceOptions) {
    this.#options = options;
  }

  /** Starts it on an unused port and on empty stores of its own, as after a first deploy. */
  static async start(options: TestServiceOptions): Promise<TestService> {
    const service = new TestService(options);
    writeFileSync(service.logFile, "");
    await service.#start({});
    return service;
  }

  /** Everything that the Worker writes. */
  get logFile(): string {
    return join(this.#folder, "worker.log");
  }

  /** Holds the stores, as Miniflare keeps them. */
  get stateFolder(): string {
    return join(this.#folder, "state");
  }

  /** Starts it again on its stores, with other settings, as a deploy would. */
  async restart(vars: { readonly [name: string]: string }): Promise<void> {
    await this.#running.dispose();
    await this.#start(vars);
  }

  /** Calls an admin route, which must succeed. */
  async admin<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json<T>();
  }

  /** Queues a run and gives it as it ended. */
  async ingest(): Promise<RunAnswer> {
    const queued = await this.admin<{ run: RunAnswer }>("POST", "/admin/ingest/queue");
    for (;;) {
      const run = await this.admin<RunAnswer>("GET", `/admin/ingest/runs/${queued.run.id}`);
      if (run.finished_at !== null) return run;
      await sleep(POLL_MS);
    }
  }

  /** Ends it and forgets what it stored. */
  async stop(): Promise<void> {
    await this.#running.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #running(): Miniflare {
    if (this.#miniflare === undefined) throw new Error("the service has not started");
    return this.#miniflare;
  }

  async #start(vars: { readonly [name: string]: string }): Promise<void> {
    const { build, locales } = this.#options;
    const sha256 = createHash("sha256").update(this.token).digest("hex");
    const bindings = {
      LOCALES: locales,
      COMPRESSION: "fast",
      MANIFEST_FRESH_MS: String(FRESH_MS),
      ADMIN_TOKENS: JSON.stringify([{ id: "system", sha256, scopes: ["read", "operate"] }]),
      ...this.#options.vars,
      ...vars,
    };
    const log = (text: string) => appendFileSync(this.logFile, `${text}\n`);
    this.#miniflare = new Miniflare({
      ...convertV4MiniflareOptions({
        workers: [{ ...build.options, ...sources(build.folder), name: "locations", bindings }],
        unsafeTriggerHandlers: true,
        cf: false,
        log: new Log(LogLevel.NONE),
        handleStructuredLogs: ({ message }) => log(message),
        handleUncaughtError: ({ stack }) => log(`uncaught ${stack}`),
      }),
      resourcePersistencePath: this.stateFolder,
    });
    this.url = (await this.#running.ready).origin;
  }
}

const sources = (folder: string) => ({
  rootPath: folder,
  modulesRoot: folder,
  modules: bundleModules(folder),
});
