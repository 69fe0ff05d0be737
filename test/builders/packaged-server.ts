/** A server as Debian packages it, beside the service. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram } from "../find-program.ts";

const POLL_MS = 50;

interface Setup {
  readonly folder: string;
  readonly port: number;
  /** The server that it calls. */
  readonly origin: URL;
}

/** Writes the settings of a server into its folder. Returns the command that starts it. */
export type Prepare = (setup: Setup) => readonly [command: string, ...args: string[]];

/** A running server, which has stored nothing at first. */
export class PackagedServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "locations-server-"));
  readonly #process: ChildProcess;
  readonly url: string;

  private constructor(prepare: Prepare, port: number, origin: string) {
    const [command, ...args] = prepare({ folder: this.#folder, port, origin: new URL(origin) });
    // Squid, started by root, reads its settings as another user.
    chmodSync(this.#folder, 0o755);
    this.#process = spawn(findProgram(command) ?? command, args, { stdio: "ignore" });
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(prepare: Prepare, origin: string, port: number): Promise<PackagedServer> {
    const server = new PackagedServer(prepare, port, origin);
    while (!(await fetch(`${server.url}/robots.txt`).catch(() => undefined))?.status) {
      if (server.#process.exitCode !== null) throw new Error("the server has ended");
      await sleep(POLL_MS);
    }
    return server;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
