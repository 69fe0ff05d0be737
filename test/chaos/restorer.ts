import { setTimeout as sleep } from "node:timers/promises";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { DAY_MS } from "../../src/platform/time.ts";
import { idAt } from "../builders/an-id.ts";
import type { Admin } from "./admin.ts";
import type { BackupContent, Operated, Restored, StoredState } from "./evidence.ts";
import { Random } from "./random.ts";
import type { Report } from "./report.ts";
import { checkRestored } from "./restored.ts";
import type { Service } from "./service.ts";

export interface RestorerDependencies {
  readonly admin: Admin;
  readonly service: Service;
  readonly report: Report;
  readonly seed: number;
  /** The operator's knowledge, which a restore changes. */
  readonly operated: Operated;
}

interface JobAnswer {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly stage: string | null;
  readonly backup_id: string;
  readonly chain: readonly string[];
  readonly generation: number | null;
  readonly error: { readonly code: string } | null;
}

const POLL_MS = 300;
/** How long to wait for other jobs and runs before a restore is asked for. */
const IDLE_DEADLINE_MS = 20_000;
/** A restore that a store holds up goes on when the faults are over. */
const JOB_DEADLINE_MS = 300_000;
const RESET_CHANCE = 0.06;

/** An operator who makes backups and restores them, and compares what comes back. */
export class Restorer {
  readonly #deps: RestorerDependencies;
  /** Checked restores. */
  readonly #settled = new Set<string>();
  /** Drawn from with each look at a job that goes on, whose number is up to the machine. */
  readonly #polls: Random;
  #stage: string | undefined;

  constructor(deps: RestorerDependencies) {
    this.#deps = deps;
    this.#polls = new Random(deps.seed, "looks at jobs");
  }

  /** The stage of the present restore; undefined if there is none. */
  get stage(): string | undefined {
    return this.#stage;
  }

  /** Makes a backup beside everything else. */
  async backUp(): Promise<void> {
    await this.#deps.admin.call("POST", "/admin/backup/run", { note: "chaos" });
  }

  /** Restores any of the backups there are, most often while nothing is being ingested. */
  async restoreAny(random: Random): Promise<void> {
    const whole = await this.#wholeBackups();
    if (whole.length === 0) return;
    if (random.chance(0.8)) await this.#quiesce();
    await this.#restore(random.pick(whole));
  }

  /** The ids of the complete backups. */
  async #wholeBackups(): Promise<readonly string[]> {
    const answer = await this.#deps.admin.call("GET", "/admin/backup/list?limit=50");
    if (answer?.status !== 200) return [];
    const { backups } = answer.body as { backups: { id: string; state: string }[] }; // our API
    return backups.filter(({ state }) => state === "complete").map(({ id }) => id);
  }

  /**
   * Copies a backup under an id of years later or earlier, as if from another installation; it may be
   * restored later.
   */
  async copyAny(random: Random): Promise<void> {
    const { service } = this.#deps;
    const whole = await this.#wholeBackups();
    if (whole.length === 0) return;
    const from = random.pick(whole);
    const days = random.between(1, 5_000) * random.pick([1, -1]);
    const to = idAt(service.now() + days * DAY_MS, random.between(0, 0xfff));
    await service.control(`copy_backup?from=${from}&to=${to}`);
    this.#deps.report.count(
      "operators",
      `backup copied from ${days > 0 ? "the future" : "long ago"}`,
    );
  }

  /** Deletes any backup; one that is protected is refused. */
  async deleteAny(random: Random): Promise<void> {
    const whole = await this.#wholeBackups();
    if (whole.length > 0)
      await this.#deps.admin.call("DELETE", `/admin/backup/${random.pick(whole)}`);
  }

  /** Restores a backup that has just been made; there are no faults, so that it must succeed. */
  async restoreNew(): Promise<void> {
    const { admin, report } = this.#deps;
    const violate = (what: string) => report.violate({ invariant: "I8", what });
    const made = await admin.call("POST", "/admin/backup/run", { note: "after the faults" });
    if (made?.status !== 202) return violate(`no backup is made: ${JSON.stringify(made)}`);
    const { job } = made.body as { job: JobAnswer }; // our API
    const ended = await this.#untilEnded(job.id);
    if (ended?.state !== "succeeded") return violate(`a backup failed: ${JSON.stringify(ended)}`);
    await this.#quiesce();
    const before = this.#deps.operated.restores.length;
    await this.#restore(job.backup_id);
    if (this.#deps.operated.restores.length === before) violate("a restore failed without faults");
  }

  /** Stops what is being ingested, and waits until no job is in progress. */
  async #quiesce(): Promise<void> {
    const { admin } = this.#deps;
    await admin.call("POST", "/admin/ingest/pause", { note: "restore", cancel_running: true });
    const deadline = Date.now() + IDLE_DEADLINE_MS;
    while (Date.now() < deadline) {
      const { truth, backupJobs } = await this.#readState();
      const isBusy = truth.runs.some(({ state }) => state === "running");
      if (!isBusy && !backupJobs.some(({ state }) => isOpen(state))) return;
      await sleep(POLL_MS);
    }
  }

  async #restore(id: string): Promise<void> {
    await this.#deps.admin.call("POST", `/admin/backup/${id}/restore`, {});
    // Also when that was not answered: the restore may be in progress all the same.
    const jobs = (await this.#jobs()).filter(({ kind }) => kind === "restore");
    for (const job of jobs) {
      if (this.#settled.has(job.id)) continue;
      const ended = await this.#untilEnded(job.id);
      this.#settled.add(job.id);
      if (ended !== undefined) await this.#check(ended);
    }
  }

  async #check({ state, error, ...job }: JobAnswer): Promise<void> {
    const { report, service, operated } = this.#deps;
    report.count("restores", error === null ? state : `${state}: ${error.code}`);
    if (state !== "succeeded") return;
    const readBackup = (id: string | null) =>
      service.control(`backup?id=${id}`) as Promise<BackupContent>; // our worker
    const restored: Restored = {
      generation: job.generation,
      backup: await readBackup(job.backup_id),
      undo: await readBackup(job.chain[0] ?? null),
    };
    const found = checkRestored(restored, await this.#readState());
    for (const violation of found) report.violate(violation);
    operated.restores.push(restored);
  }

  /** The newest jobs, however often it takes to learn of them. */
  async #jobs(): Promise<readonly JobAnswer[]> {
    for (;;) {
      const answer = await this.#deps.admin.call("GET", "/admin/backup-jobs?limit=200");
      if (answer?.status === 200) return (answer.body as { jobs: JobAnswer[] }).jobs; // our API
      await sleep(POLL_MS);
    }
  }

  /** Waits for the end of a job, and sometimes restarts the coordinator. */
  async #untilEnded(id: string): Promise<JobAnswer | undefined> {
    const { admin, report } = this.#deps;
    const deadline = Date.now() + JOB_DEADLINE_MS;
    try {
      while (Date.now() < deadline) {
        const answer = await admin.call("GET", `/admin/backup-jobs/${id}`);
        if (answer?.status === 200) {
          const job = answer.body as JobAnswer; // our API
          if (!isOpen(job.state)) return job;
          this.#stage = job.stage ?? job.state;
          if (this.#polls.chance(RESET_CHANCE)) await this.reset();
        }
        await sleep(POLL_MS);
      }
    } finally {
      this.#stage = undefined;
    }
    report.violate({ invariant: "convergence", what: `job ${id} has not ended in time` });
    return undefined;
  }

  /** Restarts the coordinator in the middle of its work. */
  async reset(): Promise<void> {
    await this.#deps.service.control("reset").catch(() => undefined); // the reply is lost with it
    const during = this.#stage === undefined ? "" : `, in the stage ${this.#stage}`;
    this.#deps.report.count("killed", `coordinator reset${during}`);
  }

  async #readState(): Promise<StoredState> {
    return (await this.#deps.service.control("state")) as StoredState; // our worker
  }
}
