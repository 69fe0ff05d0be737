/**
 * The process of the Worker: builds it as a deployment would, runs it in workerd, and repeats that when
 * a file has changed. If the build or the start fails, the former Worker goes on running.
 *
 * Wrangler's development server would end when its configuration becomes invalid (workers-sdk 10646),
 * and would let requests wait while the code does not compile.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify, stripVTControlCharacters } from "node:util";
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type MiniflareOptions,
} from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { z } from "zod";
import { bundleModules } from "../bench/bundle.ts";
import { settledWithin } from "../src/platform/deadline.ts";
import { parseJson } from "../src/platform/parse-json.ts";
import { INPUTS, listFiles } from "../web/build/inputs.ts";
import { createWorkerProxy } from "./worker-proxy.ts";
import { workerLine } from "./readable-log.ts";

/** The first message to this process. */
export interface ServerOptions {
  readonly port: number;
  readonly stateFolder: string;
  /** Settings and secrets, instead of those in wrangler.toml. */
  readonly vars: { readonly [name: string]: string };
}

/** The other messages to this process, and their answers: a cron trigger fires, and has fired. */
export interface Firing {
  readonly cron: string;
}

/** The message of this process after each build. */
export interface Build {
  /** The files that were changed. */
  readonly changed: readonly string[];
  /** Whether there is a Worker that could be started. */
  readonly isBuilt: boolean;
  /** Why the Worker does not run with the present files; null if it does. */
  readonly problem: string | null;
}

const CONFIG = "wrangler.toml";
const WATCHED = [...INPUTS, CONFIG, "migrations", "package.json", "tsconfig.json"];
const POLL_MS = 500;
const PROBLEM_LINES = 20;
const PROBLEM_LINE_LENGTH = 1_000;
/** Lines about places in the tools' code, and empty ones. */
const NOISE = /^\s*$|^\s*at |^node:|^Node\.js |^\*\*\* |If you think this is a bug/;
/** Where Node has thrown an error, with the line of its own source. */
const NODE_SOURCE = /^node:.*\n.*\n\s*\^+\n/;
const runtimeLine = z.object({ message: z.string() });
const runFile = promisify(execFile);
/** Bound a hang only: on a busy machine each takes much longer than the seconds that it needs. */
const BUILD_DEADLINE_MS = 240_000;
const START_DEADLINE_MS = 60_000;

class LocalServer {
  readonly #options: ServerOptions;
  #miniflare: Miniflare | undefined;
  #running: MiniflareOptions | undefined;
  #url = Promise.withResolvers<URL>().promise;
  #slot = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Waits while one Worker takes the place of another. */
  readonly findWorker = () => this.#url;

  /** Runs the Worker with the present files, or else the former one. */
  async reload(): Promise<Omit<Build, "changed">> {
    const slot = 1 - this.#slot;
    let next: MiniflareOptions;
    try {
      next = await this.#build(resolve(this.#options.stateFolder, "build", String(slot)));
    } catch (error) {
      return { isBuilt: false, problem: causeOf(error) };
    }
    try {
      await this.#exchange(next);
    } catch (error) {
      return { isBuilt: true, problem: causeOf(error) };
    }
    [this.#slot, this.#running] = [slot, next];
    return { isBuilt: true, problem: null };
  }

  /** The Worker logs a failure. */
  async fire(cron: string): Promise<void> {
    const worker = await this.#miniflare?.getWorker();
    await worker?.scheduled({ cron, scheduledTime: new Date() });
  }

  async #build(folder: string): Promise<MiniflareOptions> {
    await run("web/build/build.ts");
    rmSync(folder, { recursive: true, force: true });
    const wrangler = "node_modules/wrangler/bin/wrangler.js";
    await run(wrangler, "deploy", "--env=", "--dry-run", `--outdir=${folder}`);
    // A later build changes the pages, also if its Worker does not start.
    const pages = join(folder, "web");
    cpSync("dist/web", pages, { recursive: true });
    // As in the build, whatever environment CLOUDFLARE_ENV names.
    const config = unstable_readConfig({ config: CONFIG, env: "" });
    config.assets = { ...config.assets, directory: pages };
    const { bindings: _, ...worker } = unstable_getMiniflareWorkerOptions(config).workerOptions;
    return {
      ...convertV4MiniflareOptions({
        workers: [
          {
            ...worker,
            name: config.name ?? "worker",
            rootPath: folder,
            modulesRoot: folder,
            modules: bundleModules(folder),
            bindings: { ...config.vars, ...this.#options.vars },
          },
        ],
        // Its certificate is not trusted, so that no page of a browser can bypass the proxy.
        https: true,
        cf: false,
        log: new Log(LogLevel.WARN),
        handleStructuredLogs: ({ level, message }) => log(workerLine(level, message)),
        handleUncaughtError: ({ stack }) => log(workerLine("error", `uncaught ${stack}`)),
      }),
      resourcePersistencePath: resolve(this.#options.stateFolder, "v3"),
    };
  }

  /** @throws why a Worker does not start, once the former one runs again. */
  async #exchange(next: MiniflareOptions): Promise<void> {
    const before = this.#running;
    const started = this.#run(next);
    this.#url = started.catch(() => (before === undefined ? started : this.#run(before)));
    await this.#url;
    await started;
  }

  /** @throws if the Worker does not start in time. */
  async #run(options: MiniflareOptions): Promise<URL> {
    const changed = this.#miniflare?.setOptions(options);
    const miniflare = (this.#miniflare ??= new Miniflare(options));
    const ready = async () => {
      await changed;
      return miniflare.ready;
    };
    return settledWithin(START_DEADLINE_MS, ready(), async () => {
      this.#miniflare = undefined;
      await miniflare.dispose();
      throw new Error(`The Worker has not started within ${inSeconds(START_DEADLINE_MS)}. ${LOOP}`);
    });
  }
}

const LOOP = "Is there a loop without an end?";

function inSeconds(ms: number): string {
  return `${ms / 1_000} seconds`;
}

/** Runs a program of Node. */
async function run(...command: readonly [file: string, ...args: string[]]): Promise<void> {
  const limits = { timeout: BUILD_DEADLINE_MS, killSignal: "SIGKILL" } as const;
  const ended = runFile(process.execPath, command, limits);
  await ended.catch((error: unknown) => {
    if (!ended.child.killed) throw error;
    throw new Error(`${command[0]} has not ended within ${inSeconds(BUILD_DEADLINE_MS)}. ${LOOP}`);
  });
}

function log(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A program's message about its failure, or else the error, without the stack. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = "stderr" in error && error.stderr !== "" ? String(error.stderr) : error.message;
  log(text);
  // Of workerd, Miniflare has lines that are JSON.
  const [, ofRuntime] = /^Runtime stderr:\n(.*)/ms.exec(text) ?? [];
  const lines = stripVTControlCharacters(ofRuntime ?? text)
    .replace(NODE_SOURCE, "")
    .split("\n")
    .flatMap((line) => messageOf(line).split("\n"))
    .filter((line) => !NOISE.test(line))
    .map((line) => line.replaceAll(/[\p{C}\uFFFD]+/gu, "?").slice(0, PROBLEM_LINE_LENGTH));
  return lines.slice(0, PROBLEM_LINES).join("\n");
}

function messageOf(line: string): string {
  const json = line.startsWith("{") ? parseJson(line) : undefined;
  return runtimeLine.safeParse(json).data?.message ?? line;
}

function findChanges(before: Map<string, number>, now: Map<string, number>): string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name));
}

const [options] = (await once(process, "message")) as [ServerOptions]; // by local-worker.ts
const server = new LocalServer(options);
process.on("message", (firing: Firing) => {
  void server
    .fire(firing.cron)
    .catch((error: unknown) => log(String(error)))
    .finally(() => process.send?.(firing));
});

let files = listFiles(WATCHED);
const say = (build: Build) => process.send?.(build);
const first = await server.reload();
if (first.problem === null) {
  const proxy = createWorkerProxy(server.findWorker).listen(options.port, "127.0.0.1");
  await once(proxy, "listening");
}
say({ changed: [], ...first });
for (;;) {
  await sleep(POLL_MS);
  const now = listFiles(WATCHED);
  const changed = findChanges(files, now);
  if (changed.length === 0) continue;
  files = now;
  say({ changed, ...(await server.reload()) });
}
