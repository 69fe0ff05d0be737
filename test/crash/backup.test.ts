import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BackupJob, BackupStage } from "../../src/backup/job.ts";
import type { BackupContent, Violation } from "../chaos/evidence.ts";
import { NO_FAULTS } from "../chaos/fault-plan.ts";
import { checkRestored } from "../chaos/restored.ts";
import { hasEnded, KilledService } from "./killed-service.ts";

/** In which stages to kill. */
const KILLED_BACKUPS: readonly (readonly BackupStage[])[] = [
  ["copy_state", "copy_tables", "copy_objects", "write_manifest"],
  ["check_parts", "check_objects", "check_catalog", "rebuild"],
];
const KILLED_RESTORES: readonly (readonly BackupStage[])[] = [
  ["check_parts", "check_objects", "check_catalog", "rebuild", "compare_schema"],
  ["copy_state", "copy_tables", "copy_objects", "write_manifest"],
  ["restore_objects", "restore_tables", "replace_versions", "settle"],
];
/** Stores are late, so that there is time to kill the process between their calls. */
const LATE = { seed: 1, rates: { d1: { slow: 0.5 }, r2: { slow: 0.1 } } };

const made: (readonly BackupJob[])[] = [];
const restored: {
  readonly jobs: readonly BackupJob[];
  readonly violations: readonly Violation[];
  readonly summary: unknown;
}[] = [];
let killed: KilledService;
let violations: readonly Violation[];

/**
 * Queues jobs, kills the process in one of some stages, and starts it again on the same storage.
 * Queues the jobs again if the polls have missed the stages. Returns the ended jobs.
 */
async function crashIn(stages: readonly BackupStage[], path: string): Promise<BackupJob[]> {
  const isThere = ({ state, stage }: BackupJob) =>
    state === "running" && stage !== null && stages.includes(stage);
  await killed.service.setPlan(LATE);
  const { job } = await killed.admin<{ job: BackupJob }>("POST", path, {});
  for (const id of job.chain) {
    const seen = await killed.jobWhen<BackupJob>(
      id,
      (polled) => isThere(polled) || hasEnded(polled),
    );
    if (seen.state === "failed") throw new Error(`it failed: ${JSON.stringify(seen)}`);
    if (!isThere(seen)) continue;
    await killed.restart();
    await killed.service.setPlan(NO_FAULTS);
    return Promise.all(job.chain.map((next) => killed.jobWhen<BackupJob>(next, hasEnded)));
  }
  return crashIn(stages, path);
}

/** Restores a backup after one more run, and compares what came back. */
async function restore(stages: readonly BackupStage[], backup: string): Promise<void> {
  await killed.admin("POST", "/admin/ingest/resume", {});
  await killed.runWhen(await killed.queue({ mode: "dry_run" }), hasEnded);
  const jobs = await crashIn(stages, `/admin/backup/${backup}/restore`);
  const contentOf = (id = "") =>
    killed.service.control(`backup?id=${id}`) as Promise<BackupContent>; // our worker
  const content = { backup: await contentOf(backup), undo: await contentOf(jobs[0]?.backup_id) };
  const generation = jobs[1]?.generation ?? null;
  restored.push({
    jobs,
    violations: checkRestored({ generation, ...content }, await killed.state()),
    summary: await killed.admin("GET", "/dashboard/summary"),
  });
}

beforeAll(async () => {
  killed = await KilledService.build();
  await killed.restart();
  await killed.runWhen(await killed.publish(), hasEnded);
  await killed.admin("POST", "/admin/ingest/pause", { note: "holidays" });
  ({ violations } = await killed.callDuring(async () => {
    for (const stages of KILLED_BACKUPS) made.push(await crashIn(stages, "/admin/backup/run"));
    for (const [index, stages] of KILLED_RESTORES.entries())
      await restore(stages, made[index % made.length]?.[0]?.backup_id ?? "");
  }));
});

afterAll(() => killed.remove());

describe("a backup whose process is killed in the middle", () => {
  it.each(KILLED_BACKUPS.map((stages, index) => [index, stages.join()] as const))(
    "ends whole and verified (%i: killed in %s)",
    (index) => {
      expect(made[index]).toMatchObject([
        { state: "succeeded", error: null },
        { state: "succeeded", verdict: "verified", error: null },
      ]);
    },
  );
});

describe("a restore whose process is killed in the middle", () => {
  it.each(KILLED_RESTORES.map((stages, index) => [index, stages.join()] as const))(
    "ends with everything that was saved, and with all of the history (%i: killed in %s)",
    (index) => {
      expect(restored[index]).toMatchObject({
        jobs: [
          { state: "succeeded", error: null },
          { state: "succeeded", error: null, generation: expect.any(Number) },
          { state: "succeeded", verdict: "verified", error: null },
        ],
        violations: [],
        summary: { ingest: { paused: true } },
      });
    },
  );

  it("serves whole bodies all the while", () => {
    expect(violations).toEqual([]);
  });
});
