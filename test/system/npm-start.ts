import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The message of a start that serves. */
export const SERVING = "Ctrl-C";
export const TOKEN_FILE = ".wrangler/local-admin-token";

/** `npm start` as its user sees it. */
export class Start {
  static readonly #running = new Set<Start>();
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], { inShell = false, cwd = ".", env = {} } = {}) {
    const command = [process.execPath, "scripts/start.ts", ...args];
    const options = { cwd, env: { ...process.env, ...env } };
    // A shell that does something afterwards stays, as npm's does.
    this.#child = inShell
      ? spawn("sh", ["-c", '"$@"; true', "sh", ...command], options)
      : spawn(process.execPath, command.slice(1), options);
    this.#closed = once(this.#child, "close");
    this.#child.stdout?.on("data", (text) => (this.stdout += String(text)));
    this.#child.stderr?.on("data", (text) => (this.stderr += String(text)));
    Start.#running.add(this);
  }

  static async stopAll(): Promise<void> {
    await Promise.all([...Start.#running].map((start) => start.interrupt()));
  }

  /** Waits for a text. */
  async says(text: string, stream: "stdout" | "stderr" = "stdout"): Promise<void> {
    while (!this[stream].includes(text)) {
      this.#assertRuns(`ended without "${text}"`);
      await sleep(20);
    }
  }

  #assertRuns(otherwise: string): void {
    if (this.#child.exitCode === null) return;
    const output = `${this.stdout}${this.stderr}`;
    const [, logFile] = /^The log says more: (.+)$/m.exec(output) ?? [];
    const log = logFile === undefined ? "" : readFileSync(logFile, "utf8").slice(-2_000);
    throw new Error(`${otherwise}:\n${output}${log}`);
  }

  /** Waits for the end; the exit code. */
  async ends(): Promise<number | null> {
    await this.#closed;
    Start.#running.delete(this);
    return this.#child.exitCode;
  }

  /** Kills what was started, as a user or the system may kill npm. */
  kill(): void {
    this.#child.kill("SIGKILL");
    Start.#running.delete(this);
  }

  /** Presses Ctrl-C; the exit code. */
  async interrupt(): Promise<number | null> {
    this.#child.kill("SIGINT");
    return this.ends();
  }

  /** Waits until it has started that many processes; their ids, and its own. */
  async hasStarted(count: number): Promise<Set<number>> {
    for (;;) {
      const pids = this.descendants();
      if (pids.size > count) return pids;
      this.#assertRuns("ended before it started anything");
      await sleep(20);
    }
  }

  /** Its id, the ids of the processes that it started, and of those that they started. */
  descendants(): Set<number> {
    const found = new Set([this.#child.pid ?? 0]);
    // Parents come before their children only as long as ids do not wrap around.
    for (let before = 0; before < found.size;) {
      before = found.size;
      for (const { pid, parent } of processes()) if (found.has(parent)) found.add(pid);
    }
    return found;
  }
}

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** All processes that run, without those that have ended and only wait for their parent. */
export function processes(): Process[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state, command = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (state === undefined || state.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

export async function survivors(pids: ReadonlySet<number>): Promise<Process[]> {
  // A killed process takes a moment to go, and what it started some seconds.
  for (let tries = 0; tries < 100; tries++) {
    if (!processes().some(({ pid }) => pids.has(pid))) return [];
    await sleep(100);
  }
  return processes().filter(({ pid }) => pids.has(pid));
}
