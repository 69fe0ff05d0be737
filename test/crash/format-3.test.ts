import { afterAll, beforeAll, expect, it } from "vitest";
import { hasEnded, KilledService, type RunAnswer } from "./killed-service.ts";
import { type Made, unpackStoredState } from "./stored-state.ts";

const VARS = { LOCALES: "en", AIRPORTS: "scheduled", MANIFEST_FRESH_MS: "500" };

interface JobAnswer {
  readonly id: string;
  readonly backup_id: string;
  readonly chain: readonly string[];
}

let killed: KilledService;
let made: Made;

/** Over the last state of format 3. */
beforeAll(async () => {
  killed = await KilledService.build();
  made = unpackStoredState(killed.folder, "format-3-state");
  await killed.restart({ migrate: false }, VARS);
});

afterAll(() => killed.remove());

const served = () => killed.ask().catch(String);

/** Queues jobs, waits for all of them, and returns the one that was asked for. */
async function jobsOf(path: string) {
  const { job } = await killed.admin<{ job: JobAnswer }>("POST", path, {});
  for (const id of job.chain) await killed.jobWhen<RunAnswer>(id, hasEnded);
  return killed.jobWhen<RunAnswer & JobAnswer>(job.id, hasEnded);
}

it("serves the same generation again without an ingest, and keeps the history, the audit and the pause", async () => {
  const pause = await killed.admin("GET", "/admin/ingest/pause");
  expect(pause).toMatchObject({ paused: true, note: "kept over the upgrade" });
  await expect.poll(served).toBe(made.generation);
  const { runs } = await killed.admin<{ runs: RunAnswer[] }>("GET", "/admin/ingest/runs");
  expect(runs.map(({ generation_after }) => generation_after)).toEqual([2, 1]);
  const { entries } = await killed.admin<{ entries: object[] }>("GET", "/admin/audit");
  expect(entries).toContainEqual(expect.objectContaining({ action: "ingest.pause" }));
});

it("publishes the next generation, as the owner of the bucket", async () => {
  await killed.admin("POST", "/admin/ingest/resume");
  const run = await killed.runWhen(await killed.publish(), hasEnded);
  expect(run).toMatchObject({ generation_after: made.generation + 1, error: null });
  await expect.poll(served).toBe(made.generation + 1);
});

it("lists the backup that was made before, refuses to restore it by name, and restores a new one", async () => {
  const old = await jobsOf(`/admin/backup/${made.backup}/restore`);
  expect(old).toMatchObject({ state: "failed", error: { code: "former_format" } });
  const listed = await killed.admin("GET", `/admin/backup/${made.backup}`);
  expect(listed).toMatchObject({ state: "complete", verified: { state: "verified" } });
  const { backup_id: id, ...job } = await jobsOf("/admin/backup/run");
  expect(job).toMatchObject({ state: "succeeded" });
  expect(await jobsOf(`/admin/backup/${id}/restore`)).toMatchObject({ state: "succeeded" });
  await expect.poll(served).toBe(made.generation + 2);
});
