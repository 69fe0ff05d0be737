import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mayHaveSeenDamage, type PlanInForce } from "./damage-times.ts";
import { type FaultPlan, NO_FAULTS } from "./fault-plan.ts";
import type { HostOptions } from "./host.ts";

const START_DEADLINE_MS = 60_000;
const POLL_MS = 50;
/** How long the control path may take; a step that compresses holds the thread for some seconds. */
const CONTROL_DEADLINE_MS = 60_000;

export interface ServiceOptions extends Omit<HostOptions, "plan" | "migrate" | "sql"> {
  readonly secret: string;
}

/** What a deploy brings: other code, other tables, a door for the inspector. */
export type Deploy = Partial<Pick<HostOptions, "bundle" | "migrate" | "sql" | "inspectorPort">>;

/** The service in a process that is killed and started again. Times are milliseconds since 1970. */
export class Service {
  /** Rises with each start. */
  life = 0;
  readonly port: number;
  readonly #options: ServiceOptions;
  #child: ChildProcess | undefined;
  readonly #plans: PlanInForce[] = [];
  #hasTables = false;
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
    return mayHaveSeenDamage(this.#plans, { sentAt, answeredAt: Date.now() });
  }

  /** Starts it on the storage that there is; D1 gets its tables the first time. */
  async start(vars: { readonly [name: string]: string }, deploy: Deploy = {}): Promise<void> {
    const { secret, ...options } = this.#options;
    const all: HostOptions = {
      ...options,
      vars: { ...options.vars, ...vars, CHAOS_SECRET: secret },
      plan: this.#plans.at(-1)?.plan ?? NO_FAULTS,
      migrate: !this.#hasTables,
      sql: [],
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

  /** Calls the control path; again, when the process dies over it. */
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
        if (!this.wasDead(sentAt, Date.now())) throw cause;
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
