import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { LocalWorker } from "../../scripts/local-worker.ts";
import type { RunRecord } from "../../src/ingest/run-record.ts";
import type { Stage } from "../../src/ingest/run.ts";
import { isOpen } from "../../src/jobs/job-record.ts";
import { readRecord } from "./coordinator-record.ts";
import { findWorkerGroup } from "./worker-group.ts";

/** Bounds a hang only: two busy cores may take minutes for what takes seconds otherwise. */
const WATCH_DEADLINE_MS = 300_000;
/** How long the Worker runs between two looks at its storage. */
const SLICE_MS = 1;
/** The same in the stages that take a second, so that the next one is caught at its beginning. */
const LONG_SLICE_MS = 5;
const LONG_STAGES: readonly Stage[] = ["parse", "build"];
const LOOK_FOR_PROCESS_MS = 50;
/** How long a killed process may hold on to its port. */
const PORT_DEADLINE_MS = 300_000;
/** An id that no run has. */
const NO_RUN = "00000000-0000-7000-8000-000000000000";

/** The run that was watched, as its record was then. */
export interface Watched {
  /** False if the run ended without having been seen where it was wanted. */
  readonly killed: boolean;
  readonly record: RunRecord;
}

/**
 * The production bundle as a process group that is killed without warning, and started again on the
 * same storage.
 */
export class MortalWorker {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #locales: readonly string[];
  readonly #token = randomBytes(32).toString("base64url");
  #worker: LocalWorker | undefined;
  /** Settles when the Worker answers, or is known not to. */
  #booting: Promise<void> = Promise.resolve();
  /** Why the Worker that was started last does not answer. */
  #bootError: unknown;

  constructor(folder: string, port: number, locales: readonly string[]) {
    this.#folder = folder;
    this.#port = port;
    this.#locales = locales;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Starts the Worker, and does not wait for it: it may be killed before it answers. */
  boot(): void {
    this.#bootError = undefined;
    this.#booting = this.#start().then(
      (started) => void (this.#worker = started),
      (error: unknown) => void (this.#bootError = error),
    );
  }

  async #start(): Promise<LocalWorker> {
    await untilFree(this.#port);
    const digest = createHash("sha256").update(this.#token).digest("hex");
    return LocalWorker.start({
      port: this.#port,
      locales: this.#locales.join(","),
      stateFolder: this.#folder,
      fresh: false,
      adminTokens: JSON.stringify([{ id: "crash", sha256: digest, scopes: ["read", "operate"] }]),
      // Each drop is to be published as it is.
      vars: { SURPRISE_HOLD_MS: "0" },
      say: () => undefined,
      signal: new AbortController().signal,
    });
  }

  /** Whoever asks for a run wakes the coordinator; else it would wait for its watchdog. */
  #wake(): void {
    void this.admin("GET", `/admin/ingest/runs/${NO_RUN}`).catch(() => undefined);
  }

  /** Waits until the Worker answers. Throws if it cannot be started. */
  async ready(): Promise<void> {
    await this.#booting;
    if (this.#bootError !== undefined) throw this.#bootError;
  }

  /** Ends the Worker in good order, if there is one. */
  async stop(): Promise<void> {
    await this.#booting;
    await this.#worker?.stop();
    this.#worker = undefined;
  }

  async admin(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /**
   * Kills the Worker at a place that `is` wants, and starts it again on the same storage. Where steps
   * are short, the Worker runs for moments only between two looks.
   *
   * @param before the newest run that has ended before: the one that is meant comes after it.
   */
  async killWithin(
    is: (record: RunRecord) => boolean,
    before: string | undefined,
  ): Promise<Watched> {
    await this.ready();
    const deadline = Date.now() + WATCH_DEADLINE_MS;
    const group = await this.#group(deadline);
    this.#wake();
    let near = true;
    while (Date.now() < deadline) {
      if (near) process.kill(-group, "SIGSTOP");
      const seen = readRecord(this.#folder);
      const isMeant = seen !== undefined && seen.job.id !== before;
      if (near && isMeant && is(seen)) {
        await this.#kill(group);
        return { killed: true, record: seen };
      }
      if (near) process.kill(-group, "SIGCONT");
      if (near && isMeant && !isOpen(seen.job.state)) return { killed: false, record: seen };
      near = !isMeant || isNear(seen) || is(seen);
      const isLong = isMeant && LONG_STAGES.includes(seen.checkpoint.stage);
      await sleep(isLong ? LONG_SLICE_MS : SLICE_MS);
    }
    throw new Error(`it did not come there in time: ${JSON.stringify(readRecord(this.#folder))}`);
  }

  async #kill(group: number): Promise<void> {
    process.kill(-group, "SIGKILL");
    await this.stop(); // lets go of the folder
    this.boot();
  }

  /** The process group of the Worker, once there is one. */
  async #group(deadline: number): Promise<number> {
    while (Date.now() < deadline && this.#bootError === undefined) {
      const group = findWorkerGroup();
      if (group !== undefined) return group;
      await sleep(LOOK_FOR_PROCESS_MS);
    }
    throw new Error("no Worker was started", { cause: this.#bootError });
  }
}

/** Waits until nobody listens on a port any more: a process that was killed takes its time to die. */
async function untilFree(port: number): Promise<void> {
  const deadline = Date.now() + PORT_DEADLINE_MS;
  for (;;) {
    const server = createServer();
    try {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(LOOK_FOR_PROCESS_MS);
    } finally {
      server.close();
    }
  }
}

/** Whether steps may be short from here on: all but those that compress. */
function isNear({ job: { state, progress }, checkpoint: { stage } }: RunRecord): boolean {
  return state !== "running" || stage !== "encode" || progress.done >= progress.total - 1;
}
