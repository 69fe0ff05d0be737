/** An installation in memory that outlives whatever it accepts. */
import { expect } from "vitest";
import type { AlertRun } from "../../src/schemas/alert-run.ts";
import { newestTimes } from "../../src/backup/read-backups.ts";
import { anEnqueueRequest } from "./run.ts";
import { readerOf, searchAssets } from "./search-assets.ts";
import { AdminWorld } from "./admin-world.ts";

/** The linter knows `expect` inside of test blocks only. */
const must = expect;

/** Routes that read the state of both Durable Objects and of D1. */
export const READS = [
  "/admin/ingest/pause",
  "/admin/ingest/queue",
  "/admin/ingest/runs",
  "/admin/ingest/held",
  "/admin/catalog/versions",
  "/admin/backup/list",
  "/admin/backup-jobs",
  "/admin/alerts?state=inactive",
  "/admin/alerts/runs",
  "/admin/audit",
  "/admin/monitor/set-aside",
  "/dashboard/summary",
];

/** Makes an installation in which everything has happened once. */
async function makeWorld(): Promise<{ world: AdminWorld; reset: () => void }> {
  const world = new AdminWorld();
  world.readAsset = readerOf(await searchAssets());
  await world.makeHealthy();
  await goOn(world);
  return { world, reset: world.remember() };
}

/** Reads everything, ingests, makes a backup and restores it. */
async function goOn(world: AdminWorld): Promise<void> {
  const { ingest, installation } = world;
  for (const path of READS) must((await world.request(path)).status, path).toBe(200);
  must((await world.request("/admin/monitor/status")).status).not.toBe(500);
  await ingest.coordinator.resume();
  await ingest.drain();
  // What waited may have been a restore, which pauses.
  await ingest.coordinator.resume();
  await ingest.drain();
  must(await ingest.runToEnd(anEnqueueRequest())).toMatchObject({ state: "succeeded" });
  const backup = await installation.backUp();
  must(backup).toMatchObject({ state: "succeeded", verdict: "verified" });
  must(await installation.restore(backup.backup_id)).toMatchObject({ state: "succeeded" });
  await ingest.coordinator.resume();
}

/** Making a world takes longer than a hundred new starts. */
let made: ReturnType<typeof makeWorld> | undefined;

export class HostileTrial {
  readonly world: AdminWorld;
  readonly #reset: () => void;
  values = 0;
  accepted = 0;

  private constructor({ world, reset }: Awaited<ReturnType<typeof makeWorld>>) {
    this.world = world;
    this.#reset = reset;
  }

  /** Begins with an installation in which everything has happened once. */
  static async start(): Promise<HostileTrial> {
    made ??= makeWorld();
    const trial = new HostileTrial(await made);
    trial.reset();
    return trial;
  }

  /** Goes back to how it started. */
  reset(): void {
    this.#reset();
  }

  /** Counts a value. */
  note(isAccepted: boolean): void {
    this.values++;
    if (isAccepted) this.accepted++;
  }

  /** Starts both Durable Objects again over what they have stored. They must read all of it. */
  async restart(what: string): Promise<AlertRun> {
    const { ingest, monitor, installation } = this.world;
    this.world.restart();
    await new Promise(setImmediate);
    const status = ingest.coordinator.status();
    monitor.ingest = { ...status, bestCoverage: {} };
    monitor.backups = await newestTimes(installation.store);
    const evaluation = await monitor.tick();
    must(evaluation.finished_at, what).not.toBeNull();
    must([...status.setAside, ...monitor.monitor.setAside()], what).toEqual([]);
    must(
      installation.events.map(({ event }) => event),
      what,
    ).not.toContain("recovery_failed");
    return evaluation;
  }

  /** Reads everything, ingests, makes a backup and restores it. */
  goOn(): Promise<void> {
    return goOn(this.world);
  }
}
