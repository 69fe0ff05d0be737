import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { CRON_JOBS } from "../../src/coordinator/schedule.ts";
import { DAY_MS, HOUR_MS } from "../../src/platform/time.ts";
import type { CoordinatorStatus } from "../../src/coordinator/status.ts";
import type { Admin, AdminAnswer } from "./admin.ts";
import { nothingOperated, type StoredState } from "./evidence.ts";
import { hostileRequest } from "./hostile-request.ts";
import { type Action, chooseAction } from "./operator-choices.ts";
import type { Random } from "./random.ts";
import { checkReadRoutes } from "./read-routes.ts";
import type { Report } from "./report.ts";
import { Restorer } from "./restorer.ts";
import type { Service } from "./service.ts";
import { badAirports, goodAirports, shrunkAirports } from "./upstream-files.ts";

interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
}

export interface OperatorDependencies {
  readonly admin: Admin;
  readonly service: Service;
  readonly report: Report;
  readonly seed: number;
}

const POLL_MS = 500;
const PAUSE_MAX_MS = 8_000;
/** How often a resumption asks for a run at once. */
const RUN_NOW_CHANCE = 0.1;
const FORCED_DEADLINE_MS = 15_000;
/** Where the clock goes, several times as far. */
const CLOCKS: readonly (readonly [string, number])[] = [
  ["right", 0],
  ["right", 0],
  ["forward by hours", HOUR_MS],
  ["forward by years", 365 * DAY_MS],
  ["back by hours", -HOUR_MS],
  ["back by years", -365 * DAY_MS],
];
const CLOCK_TIMES_MAX = 20;
/** A refusal takes a moment only. */
const HOSTILE_TIMES = 5;
/** How often the other installation takes the bucket over when it appears. */
const TAKEOVER_CHANCE = 0.5;

/** One operator: one call after the other, chosen by the seed. Remembers what was answered. */
export class Operator {
  readonly operated = nothingOperated();
  readonly restorer: Restorer;
  readonly #deps: OperatorDependencies;
  readonly #actions: { readonly [A in Action]: (random: Random) => Promise<void> } = {
    publish: async (random) => this.publish(random),
    publishBad: async (random) => this.#publishBad(random),
    dryRun: async () => this.#queue({ source: "embedded", mode: "dry_run" }),
    race: async () => this.#race(),
    pause: async (random) => this.#pause(random),
    rollBack: async (random) => this.#rollBack(random),
    cancel: async (random) => this.#cancel(random),
    diff: async (random) => this.#diff(random),
    look: async (random) => this.#look(random),
    tick: async (random) => this.#tick(random),
    force: async (random) => this.#force(random),
    backUp: async () => this.restorer.backUp(),
    restore: async (random) => this.#restore(random),
    reset: async () => this.restorer.reset(),
    meetOther: async (random) => this.#meetOther(random),
    hostile: async (random) => {
      for (let times = 0; times < HOSTILE_TIMES; times++) await this.#sendHostile(random);
    },
    setClock: async (random) => this.#setClock(random),
    copyBackup: async (random) => this.restorer.copyAny(random),
    deleteBackup: async (random) => this.restorer.deleteAny(random),
  };
  #generation = 0;
  #tickAt = Date.now();

  constructor(deps: OperatorDependencies) {
    this.#deps = deps;
    this.restorer = new Restorer({ ...deps, operated: this.operated });
  }

  async workUntil(endAt: number): Promise<void> {
    for (let number = 1; Date.now() < endAt; number++) {
      const { action, restMs, random } = chooseAction(this.#deps.seed, number);
      await this.#actions[action](random);
      await sleep(restMs);
    }
  }

  /** Drops other airports and queues a run of them. */
  async publish(random: Random, { force = random.chance(0.05) } = {}): Promise<void> {
    await this.#drop(goodAirports(random));
    const mode = random.chance(0.2) ? "full" : "incremental";
    await this.#queue({ source: "dropped", mode, force });
  }

  /** Publishes a world past the guards that is much smaller, and then the usual one again. */
  async #force(random: Random): Promise<void> {
    await this.#drop(shrunkAirports());
    await this.#queue({ source: "dropped", force: true });
    await this.untilIdle(FORCED_DEADLINE_MS);
    await this.publish(random, { force: true });
    await this.untilIdle(FORCED_DEADLINE_MS);
  }

  /** Restores a backup, which may bring a pause back. */
  async #restore(random: Random): Promise<void> {
    const runNow = random.chance(RUN_NOW_CHANCE);
    await this.restorer.restoreAny(random);
    await this.resume({ runNow });
  }

  /** Waits until no run is open, or for a time. */
  async untilIdle(ms: number): Promise<void> {
    for (const deadline = Date.now() + ms; Date.now() < deadline; await sleep(POLL_MS)) {
      const { truth } = (await this.#deps.service.control("state")) as StoredState; // our worker
      if (truth.runs.every(({ state }) => !isOpen(state))) return;
    }
  }

  /**
   * Lets another installation try to publish over the same bucket, and now and then take it over and
   * publish. In the end this one owns the bucket.
   */
  async #meetOther(random: Random): Promise<void> {
    await this.#askOther(random.pick(["publish", "roll_back", "look"]));
    // A rollback that was acknowledged and not shown yet would be overtaken.
    if (!random.chance(TAKEOVER_CHANCE) || !(await this.#untilReplicated())) return;
    this.operated.takeovers++;
    await this.#askOther("take_over");
    await this.#drop(goodAirports(random));
    await this.#askOther("publish");
    await this.#untilOther(({ queued, running }) => queued.length === 0 && running === null);
    if (random.chance(TAKEOVER_CHANCE)) {
      await this.#askOther("back_up");
      await this.#untilOther(({ job }) => job === null);
    }
    await this.takeBack();
  }

  /** Makes this installation the owner of the bucket, however often it takes, and resumes. */
  async takeBack(): Promise<void> {
    for (;;) {
      this.operated.takeovers++;
      const answer = await this.#call("POST", "/admin/catalog/take-over", { note: "chaos" });
      if (answer?.status === 200) return this.resume();
      await sleep(POLL_MS);
    }
  }

  async #askOther(deed: string): Promise<unknown> {
    const answer = await this.#deps.service.control(`other?deed=${deed}`);
    const { ok, reason = "" } = (answer ?? {}) as { ok?: boolean; reason?: string }; // our worker
    const outcome = ok === false ? reason : "done";
    const said = typeof answer === "string" ? "fault" : outcome;
    if (deed !== "status") this.#deps.report.count("other installation", `${deed}: ${said}`);
    return answer;
  }

  /** Waits until the other installation is so, or for a time. */
  async #untilOther(is: (status: CoordinatorStatus) => boolean): Promise<void> {
    for (const deadline = Date.now() + FORCED_DEADLINE_MS; Date.now() < deadline;) {
      const status = (await this.#askOther("status")) as CoordinatorStatus | string; // our worker
      if (typeof status !== "string" && is(status)) return;
      await sleep(POLL_MS);
    }
  }

  /** Waits until the stores show the published version; false if they do not in time. */
  async #untilReplicated(): Promise<boolean> {
    for (const deadline = Date.now() + FORCED_DEADLINE_MS; Date.now() < deadline;) {
      const { truth } = (await this.#deps.service.control("state")) as StoredState; // our worker
      if (truth.isReplicated) return true;
      await sleep(POLL_MS);
    }
    return false;
  }

  async #publishBad(random: Random): Promise<void> {
    await this.#drop(badAirports(random));
    await this.#queue({ source: "dropped" });
  }

  async #drop(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#deps.service.control("drop?name=airports.csv", bytes);
  }

  async #queue(body: object): Promise<void> {
    const answer = await this.#call("POST", "/admin/ingest/queue", body);
    if (answer === undefined || answer.status >= 300) return;
    const { run } = answer.body as { run: RunAnswer }; // our API
    this.operated.acknowledged.add(run.id);
  }

  async #race(): Promise<void> {
    const body = { source: "dropped", note: "race" };
    await Promise.all([this.#queue(body), this.#queue(body)]);
  }

  /** Pauses, and looks whether something is published nevertheless. */
  async #pause(random: Random): Promise<void> {
    const body = { note: "chaos", cancel_running: random.chance(0.2) };
    const publishes = random.chance(0.5);
    const pauseMs = random.between(0, PAUSE_MAX_MS);
    const runNow = random.chance(RUN_NOW_CHANCE);
    const paused = await this.#call("POST", "/admin/ingest/pause", body);
    const from = Date.now();
    if (paused?.status === 200) {
      const before = await this.#newest();
      if (publishes) await this.publish(random);
      await sleep(pauseMs);
      const after = await this.#newest();
      this.operated.pauses.push({ from, to: Date.now(), before, after });
    }
    await this.resume({ runNow });
  }

  /** Resumes, however often it takes. */
  async resume({ runNow = false } = {}): Promise<void> {
    for (;;) {
      const answer = await this.#call("POST", "/admin/ingest/resume", { run_now: runNow });
      if (answer?.status === 200) return;
      await sleep(POLL_MS);
    }
  }

  async #rollBack(random: Random): Promise<void> {
    const versions = await this.#versions();
    const earlier = versions.slice(1);
    if (earlier.length === 0) return;
    const generation = random.pick(earlier);
    this.operated.rollbackAttempts++;
    const answer = await this.#call("POST", "/admin/catalog/rollback", { generation });
    if (answer?.status !== 200) return;
    const { version } = answer.body as { version: { generation: number } }; // our API
    this.operated.rollbacks.set(version.generation, generation);
  }

  async #cancel(random: Random): Promise<void> {
    const open = (await this.#runs()).filter(({ state }) => isOpen(state));
    if (open.length === 0) return;
    const { id } = random.pick(open);
    const answer = await this.#call("POST", `/admin/ingest/runs/${id}/cancel`);
    if (answer?.status === 200) this.operated.cancelled.add(id);
  }

  async #diff(random: Random): Promise<void> {
    const versions = await this.#versions();
    if (versions.length > 0)
      await this.#call("GET", `/catalog/diff?from=${random.pick(versions)}&locale=de`);
  }

  async #look(random: Random): Promise<void> {
    await this.#runs();
    const path = random.pick([
      "/admin/monitor/status",
      "/catalog/health",
      "/dashboard/summary",
      "/admin/audit",
    ]);
    await this.#call("GET", path);
  }

  /**
   * Sends values of all kinds. What is accepted must not stop the next start, nor a pause outlast the
   * check.
   */
  async #sendHostile(random: Random): Promise<void> {
    const { admin, service, report } = this.#deps;
    const { method, path, headers, body } = hostileRequest(random, service.now());
    const answer = await admin.call(method, path, body, { headers, isHostile: true });
    if (method === "GET") return;
    if (answer !== undefined && answer.status < 300) {
      await this.restorer.reset();
      await checkReadRoutes(admin, report, `after ${method} ${path} ${JSON.stringify(body)}`);
    }
    if (path.endsWith("/pause") || path.endsWith("/restore")) await this.resume();
  }

  /** Sets the clock forward or back by hours or years, and later right again. */
  async #setClock(random: Random): Promise<void> {
    const [what, offsetMs] = random.pick(CLOCKS);
    const times = random.between(1, CLOCK_TIMES_MAX);
    await this.#deps.service.setClock(offsetMs * times);
    this.#deps.report.count("clock", what);
  }

  /** Cron ticks, some of them twice. */
  async #tick(random: Random): Promise<void> {
    const cron = random.pick(Object.keys(CRON_JOBS));
    const { service } = this.#deps;
    if (random.chance(0.7)) this.#tickAt = service.now();
    // A tick that meets a fault is lost, and its acceptance was not acknowledged.
    await service.tick(cron, this.#tickAt).catch(() => undefined);
    this.#deps.report.count("operators", `cron tick ${cron}`);
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
    const { runs, paused } = answer.body as { runs: RunAnswer[]; paused: boolean | null }; // our API
    // Null says that the coordinator did not answer, and that runs may be shown as they were.
    if (paused !== null) for (const run of runs) this.#noteEnd(run);
    return runs;
  }

  #noteEnd({ id, state, outcome }: RunAnswer): void {
    const end = { state, outcome };
    const known = this.operated.ends.get(id);
    if (known !== undefined && !isDeepStrictEqual(known, end)) {
      const what = `run ${id} had ended as ${JSON.stringify(known)}, and is ${JSON.stringify(end)}`;
      this.#deps.report.violate({ invariant: "I3", what });
    }
    if (!isOpen(state)) this.operated.ends.set(id, end);
  }

  async #call(method: string, path: string, body?: object): Promise<AdminAnswer | undefined> {
    return this.#deps.admin.call(method, path, body);
  }
}
