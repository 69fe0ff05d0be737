import { setTimeout as sleep } from "node:timers/promises";
import { CRON_JOBS } from "../../src/schedule.ts";
import type { Admin, AdminAnswer } from "./admin.ts";
import type { Operated } from "./evidence.ts";
import type { Random } from "./random.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { badAirports, goodAirports } from "./upstream-files.ts";

interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
}

export interface OperatorDependencies {
  readonly admin: Admin;
  readonly service: Service;
  readonly report: Report;
  readonly random: Random;
}

const REST_MAX_MS = 500;
const PAUSE_MAX_MS = 8_000;

/** One operator: one call after the other, chosen by the seed. Remembers what was answered. */
export class Operator {
  readonly operated: Operated = {
    acknowledged: new Set(),
    cancelled: new Set(),
    pauses: [],
    rollbackAttempts: 0,
    rollbacks: new Map(),
    ends: new Map(),
  };
  readonly #deps: OperatorDependencies;
  #generation = 0;
  #tickAt = Date.now();

  constructor(deps: OperatorDependencies) {
    this.#deps = deps;
  }

  async workUntil(endAt: number): Promise<void> {
    const { random } = this.#deps;
    const actions = [
      ...times(6, async () => this.publish()),
      ...times(2, async () => this.#publishBad()),
      ...times(1, async () => this.#queue({ source: "embedded", mode: "dry_run" })),
      ...times(1, async () => this.#race()),
      ...times(3, async () => this.#pause()),
      ...times(4, async () => this.#rollBack()),
      ...times(2, async () => this.#cancel()),
      ...times(2, async () => this.#diff()),
      ...times(3, async () => this.#look()),
      ...times(2, async () => this.#tick()),
      ...times(1, async () => this.#backUp()),
      ...times(2, async () => this.#reset()),
    ];
    while (Date.now() < endAt) {
      await random.pick(actions)();
      await sleep(random.between(0, REST_MAX_MS));
    }
  }

  /** Drops other airports and queues a run of them; its id, if that was acknowledged. */
  async publish(): Promise<string | undefined> {
    const { random } = this.#deps;
    await this.#drop(goodAirports(random));
    const mode = random.chance(0.2) ? "full" : "incremental";
    return this.#queue({ source: "dropped", mode });
  }

  async #publishBad(): Promise<void> {
    await this.#drop(badAirports(this.#deps.random));
    await this.#queue({ source: "dropped" });
  }

  async #drop(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#deps.service.control("drop?name=airports.csv", bytes);
  }

  async #queue(body: object): Promise<string | undefined> {
    const answer = await this.#call("POST", "/admin/ingest/queue", body);
    if (answer === undefined || answer.status >= 300) return undefined;
    const { run } = answer.body as { run: RunAnswer }; // our API
    this.operated.acknowledged.add(run.id);
    return run.id;
  }

  async #race(): Promise<void> {
    const body = { source: "dropped", note: "race" };
    await Promise.all([this.#queue(body), this.#queue(body)]);
  }

  /** Pauses, and looks whether something is published nevertheless. */
  async #pause(): Promise<void> {
    const { random } = this.#deps;
    const body = { reason: "chaos", cancel_running: random.chance(0.2) };
    const paused = await this.#call("POST", "/admin/ingest/pause", body);
    const from = Date.now();
    if (paused?.status === 200) {
      const before = await this.#newest();
      if (random.chance(0.5)) await this.publish();
      await sleep(random.between(0, PAUSE_MAX_MS));
      const after = await this.#newest();
      this.operated.pauses.push({ from, to: Date.now(), before, after });
    }
    await this.resume();
  }

  /** Resumes, however often it takes. */
  async resume(): Promise<void> {
    const { random } = this.#deps;
    for (;;) {
      const body = { run_now: random.chance(0.1) };
      const answer = await this.#call("POST", "/admin/ingest/resume", body);
      if (answer?.status === 200) return;
      await sleep(REST_MAX_MS);
    }
  }

  async #rollBack(): Promise<void> {
    const versions = await this.#versions();
    const earlier = versions.slice(1);
    if (earlier.length === 0) return;
    const generation = this.#deps.random.pick(earlier);
    this.operated.rollbackAttempts++;
    const answer = await this.#call("POST", "/admin/catalog/rollback", { generation });
    if (answer?.status !== 200) return;
    const { version } = answer.body as { version: { generation: number } }; // our API
    this.operated.rollbacks.set(version.generation, generation);
  }

  async #cancel(): Promise<void> {
    const open = (await this.#runs()).filter(({ state }) => !isEnd(state));
    if (open.length === 0) return;
    const { id } = this.#deps.random.pick(open);
    const answer = await this.#call("POST", `/admin/ingest/runs/${id}/cancel`);
    if (answer?.status === 200) this.operated.cancelled.add(id);
  }

  async #diff(): Promise<void> {
    const versions = await this.#versions();
    if (versions.length < 2) return;
    const { random } = this.#deps;
    await this.#call(
      "GET",
      `/catalog/diff?from=${random.pick(versions)}&to=${random.pick(versions)}`,
    );
  }

  async #look(): Promise<void> {
    await this.#runs();
    const path = this.#deps.random.pick([
      "/admin/monitor/status",
      "/catalog/health",
      "/dashboard/summary",
      "/admin/audit",
    ]);
    await this.#call("GET", path);
  }

  /** Makes a backup beside everything else, and looks at those that there are. */
  async #backUp(): Promise<void> {
    await this.#call("POST", "/admin/backup/run", { note: "chaos" });
    await this.#call("GET", "/admin/backup/list");
  }

  /** Cron ticks, some of them twice. */
  async #tick(): Promise<void> {
    const cron = this.#deps.random.pick(Object.keys(CRON_JOBS));
    if (this.#deps.random.chance(0.7)) this.#tickAt = Date.now();
    const path = `tick?cron=${encodeURIComponent(cron)}&at=${this.#tickAt}`;
    // A tick that meets a fault is lost, and nobody was told that it was taken.
    await this.#deps.service.control(path).catch(() => undefined);
    this.#deps.report.count("operators", `cron tick ${cron}`);
  }

  /** Takes the coordinator's memory away, in the middle of what it does. */
  async #reset(): Promise<void> {
    await this.#deps.service.control("reset").catch(() => undefined); // the reply is lost with it
    this.#deps.report.count("killed", "coordinator reset");
  }

  /** Generations of the retained versions, newest first. */
  async #versions(): Promise<readonly number[]> {
    const answer = await this.#call("GET", "/admin/catalog/versions");
    if (answer?.status !== 200) return [];
    const { versions } = answer.body as { versions: { generation: number }[] }; // our API
    const generations = versions.map(({ generation }) => generation);
    const [newest = 0] = generations;
    if (newest < this.#generation) {
      const what = `generation ${newest} is published, after ${this.#generation}`;
      this.#deps.report.violate({ invariant: "I2", what });
    }
    this.#generation = newest;
    return generations;
  }

  async #newest(): Promise<number | undefined> {
    return (await this.#versions())[0];
  }

  /** The newest runs; one that had ended must be as it was then. */
  async #runs(): Promise<readonly RunAnswer[]> {
    const answer = await this.#call("GET", "/admin/ingest/runs?limit=50");
    if (answer?.status !== 200) return [];
    const { runs } = answer.body as { runs: RunAnswer[] }; // our API
    for (const run of runs) this.#noteEnd(run);
    return runs;
  }

  #noteEnd({ id, state, outcome }: RunAnswer): void {
    const end = `${state} ${outcome}`;
    const known = this.operated.ends.get(id);
    if (known !== undefined && known !== end) {
      const what = `run ${id} had ended as ${known}, and is ${end}`;
      this.#deps.report.violate({ invariant: "I3", what });
    }
    if (isEnd(state)) this.operated.ends.set(id, end);
  }

  async #call(method: string, path: string, body?: object): Promise<AdminAnswer | undefined> {
    return this.#deps.admin.call(method, path, body);
  }
}

function isEnd(state: string): boolean {
  return state !== "queued" && state !== "running";
}

function times<T>(count: number, item: T): T[] {
  return Array.from({ length: count }, () => item);
}
