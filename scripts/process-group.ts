import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const STOP_DEADLINE_MS = 5_000;
const END_WITH_STARTER = new URL("./end-with-starter.ts", import.meta.url).href;

interface ProcessGroupOptions {
  readonly env: NodeJS.ProcessEnv;
  /** File that all output is appended to. */
  readonly logFile: string;
  readonly onMessage: (message: object) => void;
  /** Ends the group when it aborts. */
  readonly signal: AbortSignal;
}

/** A Node script and all processes that it starts. They end together, and with this process. */
export class ProcessGroup {
  /** Settles when the script has ended; never rejects. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;

  constructor(script: string, options: ProcessGroupOptions) {
    const { env, logFile, onMessage, signal } = options;
    signal.throwIfAborted();
    const log = openSync(logFile, "a");
    this.#child = spawn(process.execPath, ["--import", END_WITH_STARTER, script], {
      env,
      stdio: ["ignore", log, log, "ipc"],
      detached: true,
    });
    closeSync(log);
    this.#child.on("message", onMessage);
    // A separate group receives no Ctrl-C.
    const stop = () => void this.stop();
    signal.addEventListener("abort", stop, { once: true });
    this.exited = this.#untilExit(() => signal.removeEventListener("abort", stop));
  }

  get isAlive(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  /** Sends a message to the script, unless it has ended. */
  send(message: object): void {
    this.#child.send(message, () => {});
  }

  /** Ends all processes of the group: gently at first, then by force. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    await Promise.race([this.exited, sleep(STOP_DEADLINE_MS, undefined, { ref: false })]);
    this.#signal("SIGKILL");
  }

  async #untilExit(release: () => void): Promise<void> {
    // Rejects if the script could not be started at all.
    await once(this.#child, "exit").catch(() => undefined);
    release();
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended already.
    }
  }
}
