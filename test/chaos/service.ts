import { type ChildProcess, fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleWorker } from "../../bench/bundle.ts";
import { WATCH_CRON } from "../../src/coordinator/schedule.ts";
import { freePort } from "../system/running-service.ts";
import { type FaultPlan, NO_FAULTS } from "./fault-plan.ts";
import { readHostConfig } from "./host-config.ts";
import type { HostOptions } from "./host.ts";

const START_DEADLINE_MS = 60_000;
const POLL_MS = 50;
/** How long the control path may take; a step that compresses holds the thread for some seconds. */
const CONTROL_DEADLINE_MS = 60_000;

/**
 * How long damage that was read may be answered with: many times what a reader remembers of a copy
 * that it could not use (2 s), and what a busy machine may be late.
 */
const DAMAGE_LASTS_MS = 30_000;

interface ServiceOptions extends Omit<HostOptions, "plan" | "migrate"> {
  readonly secret: string;
}

/** The changes of a deploy: other code, also beside the first, other tables, a port for the inspector. */
export type Deploy = Partial<Pick<HostOptions, "bundle" | "beside" | "migrate" | "inspectorPort">>;

/**
 * Builds the Worker for a service with stores in a folder.
 *
 * @param token opens the admin routes.
 */
export async function buildService(
  folder: string,
  token: string,
  vars: HostOptions["vars"] = {},
): Promise<Service> {
  const bundle = join(folder, "bundle");
  bundleWorker("test/chaos/worker.ts", bundle);
  const config = readHostConfig();
  const sha256 = createHash("sha256").update(token).digest("hex");
  return new Service({
    folder,
    config,
    bundle,
    port: await freePort(),
    secret: randomBytes(16).toString("hex"),
    vars: {
      ADMIN_TOKENS: JSON.stringify([{ id: "chaos", sha256, scopes: ["read", "operate"] }]),
      SOURCE: "dropped",
      // Each drop is to be published as it is.
      SURPRISE_HOLD_MS: "0",
      SURPRISE_UNLISTED_PERCENT: "100",
      ...vars,
    },
  });
}

/** The service in a process that is killed and started again. Times are milliseconds since 1970. */
export class Service {
  /** Rises with each start. */
  life = 0;
  readonly port: number;
  readonly #options: ServiceOptions;
  #child: ChildProcess | undefined;
  /** Each until the next one came into force. */
  readonly #plans: { readonly plan: FaultPlan; readonly from: number }[] = [];
  #hasTables = false;
  #clockOffsetMs = 0;
  /** When the process was killed and when it served again, in pairs. */
  readonly #outages: { from: number; to: number }[] = [];

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.port = options.port;
    mkdirSync(join(options.folder, "tmp"), { recursive: true });
    process.once("exit", () => this.#signal());
  }

  /** Whether the process was dead at any moment of a time. */
  wasDead(from: number, to: number): boolean {
    return this.#outages.some((outage) => outage.from <= to && outage.to >= from);
  }

  /** Whether copies may have looked damaged or missing to a request that has just been answered. */
  mayHaveSeenDamage(sentAt: number): boolean {
    return this.#plans.some(({ plan, from }, index) => {
      const to = this.#plans[index + 1]?.from ?? Infinity;
      return damages(plan) && from <= Date.now() && to + DAMAGE_LASTS_MS >= sentAt;
    });
  }

  /** Starts it on the storage that there is; D1 gets its tables the first time. */
  async start(vars: { readonly [name: string]: string }, deploy: Deploy = {}): Promise<void> {
    const { secret, ...options } = this.#options;
    const all: HostOptions = {
      ...options,
      vars: {
        ...options.vars,
        ...vars,
        CHAOS_SECRET: secret,
        CHAOS_CLOCK_MS: String(this.#clockOffsetMs),
      },
      plan: this.#plans.at(-1)?.plan ?? NO_FAULTS,
      migrate: !this.#hasTables,
      ...deploy,
    };
    const child = fork(join(import.meta.dirname, "host.ts"), [JSON.stringify(all)], {
      detached: true,
      env: { ...process.env, TMPDIR: join(options.folder, "tmp") },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    const ended = once(child, "exit").then(() => {
      throw new Error("the host ended before it served");
    });
    await Promise.race([
      once(child, "message", { signal: AbortSignal.timeout(START_DEADLINE_MS) }),
      ended,
    ]);
    ended.catch(() => undefined);
    this.#hasTables ||= all.migrate;
    this.life++;
    const outage = this.#outages.at(-1);
    if (outage !== undefined) outage.to = Date.now();
  }

  /** Kills the host and workerd, as the kernel would. */
  async kill(): Promise<void> {
    this.#outages.push({ from: Date.now(), to: Infinity });
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    this.#signal();
    await exited;
    while (await isOpen(this.port)) await sleep(POLL_MS);
  }

  async setPlan(plan: FaultPlan): Promise<void> {
    this.#plans.push({ plan, from: Date.now() });
    await this.control("plan", JSON.stringify(plan));
  }

  /** The time of the Worker's clock. */
  now(): number {
    return Date.now() + this.#clockOffsetMs;
  }

  /** Sets the offset of the Worker's clock from the machine's, and fires the cron trigger. */
  async setClock(offsetMs: number): Promise<void> {
    this.#clockOffsetMs = offsetMs;
    await this.control(`clock?ms=${offsetMs}`);
    await this.tick(WATCH_CRON, this.now()).catch(() => undefined);
  }

  /** Lets a cron trigger fire for a time. Throws if it meets a fault: then it is lost. */
  async tick(cron: string, at: number): Promise<void> {
    await this.control(`tick?cron=${encodeURIComponent(cron)}&at=${at}`);
  }

  /** Calls the control path; again, if the process dies over it, or has just closed an idle connection. */
  async control(what: string, body?: string | Uint8Array<ArrayBuffer>): Promise<unknown> {
    const url = `http://127.0.0.1:${this.port}/chaos/${this.#options.secret}/${what}`;
    for (;;) {
      const sentAt = Date.now();
      try {
        const signal = AbortSignal.timeout(CONTROL_DEADLINE_MS);
        const answer = await fetch(url, { method: "POST", signal, ...(body && { body }) });
        if (answer.ok) return await answer.json();
        throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
      } catch (cause) {
        await sleep(POLL_MS);
        if (!isClosed(cause) && !this.wasDead(sentAt, Date.now())) throw cause;
      }
    }
  }

  /** The child leads a group of its own, which workerd belongs to. */
  #signal(): void {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, "SIGKILL");
  }
}

function damages({ rates }: FaultPlan): boolean {
  return Object.values(rates).some(({ corrupt = 0, missing = 0 }) => corrupt > 0 || missing > 0);
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Whether `fetch` failed because the other side has closed the connection. */
function isClosed(cause: unknown): boolean {
  const reason = cause instanceof Error ? cause.cause : undefined;
  return reason instanceof Error && "code" in reason && reason.code === "UND_ERR_SOCKET";
}
