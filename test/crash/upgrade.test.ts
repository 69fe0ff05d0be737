import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasEnded, KilledService, type RunAnswer } from "./killed-service.ts";
import { type Made, unpackStoredState } from "./stored-state.ts";

const VARS = { LOCALES: "en", AIRPORTS: "scheduled", MANIFEST_FRESH_MS: "500" };

interface JobAnswer {
  readonly id: string;
  readonly state: string;
  readonly backup_id: string;
  readonly chain: readonly string[];
  readonly generation: number | null;
  readonly error: object | null;
}

let killed: KilledService;
let made: Made;

beforeAll(async () => {
  killed = await KilledService.build();
  made = unpackStoredState(killed.folder);
  await killed.restart({ migrate: false }, VARS);
});

afterAll(() => killed.remove());

/** Queues jobs, which must succeed. Returns the first. */
async function jobsOf(path: string): Promise<JobAnswer> {
  const { job } = await killed.admin<{ job: JobAnswer }>("POST", path, {});
  for (const id of job.chain)
    expect(await killed.jobWhen<JobAnswer>(id, hasEnded)).toMatchObject({ state: "succeeded" });
  return killed.jobWhen<JobAnswer>(job.id, hasEnded);
}

describe("the present code over what the version before has stored", () => {
  it("serves the same generation at once, and knows its history and the pause", async () => {
    expect(await killed.ask()).toBe(made.generation);
    const { runs } = await killed.admin<{ runs: RunAnswer[] }>("GET", "/admin/ingest/runs");
    expect(runs.map(({ generation_after }) => generation_after)).toEqual([2, 1]);
    const pause = await killed.admin("GET", "/admin/ingest/pause");
    expect(pause).toMatchObject({ paused: true, note: "kept over the upgrade" });
  });

  it("ingests and publishes the next generation, as the owner of the bucket", async () => {
    await killed.admin("POST", "/admin/ingest/resume");
    const run = await killed.runWhen(await killed.publish(), hasEnded);
    const published = { outcome: "published", generation_after: made.generation + 1 };
    expect(run).toMatchObject({ ...published, error: null });
    await expect.poll(() => killed.ask()).toBe(made.generation + 1);
  });

  it("makes a verified backup, and restores the one that was made before", async () => {
    await jobsOf("/admin/backup/run");
    const restore = await jobsOf(`/admin/backup/${made.backup}/restore`);
    expect(restore).toMatchObject({ generation: made.generation + 2, error: null });
    await expect.poll(() => killed.ask()).toBe(made.generation + 2);
    await killed.admin("POST", "/admin/ingest/resume");
  });

  it("evaluates the alerts with the monitor's earlier state", async () => {
    await killed.admin("POST", "/admin/alerts/run");
    const earlier = async () => killed.admin<{ total: number }>("GET", "/admin/alerts/runs");
    await expect.poll(async () => (await earlier()).total).toBe(2);
  });
});

it("older code over a later monitor serves and ingests, and refuses to evaluate, with what to do", async () => {
  await killed.service.kill();
  const folder = join(killed.folder, "state/do/chaos-AlertMonitor");
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(folder, name));
    const tables = database.prepare("SELECT name FROM sqlite_master").all();
    if (tables.some((table) => table["name"] === "schema_version"))
      database.exec("UPDATE schema_version SET version = 99");
    database.close();
  }
  await killed.service.start(VARS, { migrate: false });
  for (const path of ["/admin/alerts/run", "/admin/alerts/test"])
    await expect(killed.admin("POST", path, {})).rejects.toThrow(
      /503 .*other_version.*alert monitor have version 99, .* Deploy the newer Worker again/s,
    );
  const run = await killed.runWhen(await killed.publish(), hasEnded);
  expect(run).toMatchObject({ state: "succeeded", error: null });
  expect(await killed.ask()).toBeGreaterThanOrEqual(made.generation + 2);
});
