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
  readonly error: { readonly code: string } | null;
}

describe.each([
  ["the version before", "stored-state", null],
  ["the last version with manifests of format 3", "format-3-state", "former_format"],
] as const)("the present code over what %s has stored", (_, name, refusal) => {
  let killed: KilledService;
  let made: Made;

  beforeAll(async () => {
    killed = await KilledService.build();
    made = unpackStoredState(killed.folder, name);
    await killed.restart({ migrate: false }, VARS);
  });

  afterAll(() => killed.remove());

  const served = () => killed.ask().catch(String);

  /** Queues jobs, waits for all of them, and returns the one that was asked for. */
  async function jobsOf(path: string): Promise<JobAnswer> {
    const { job } = await killed.admin<{ job: JobAnswer }>("POST", path, {});
    for (const id of job.chain) await killed.jobWhen<JobAnswer>(id, hasEnded);
    return killed.jobWhen<JobAnswer>(job.id, hasEnded);
  }

  it("serves the same generation without an ingest, and keeps the history, the audit and the pause", async () => {
    // Any call, or the next cron tick, wakes the coordinator, which writes an earlier manifest again.
    const pause = await killed.admin("GET", "/admin/ingest/pause");
    expect(pause).toMatchObject({ paused: true, note: "kept over the upgrade" });
    await expect.poll(served).toBe(made.generation);
    const { runs } = await killed.admin<{ runs: RunAnswer[] }>("GET", "/admin/ingest/runs");
    expect(runs.map(({ generation_after }) => generation_after)).toEqual([2, 1]);
    const { entries } = await killed.admin<{ entries: object[] }>("GET", "/admin/audit");
    expect(entries).toContainEqual(expect.objectContaining({ action: "ingest.pause" }));
  });

  it("ingests and publishes the next generation, as the owner of the bucket", async () => {
    await killed.admin("POST", "/admin/ingest/resume");
    const run = await killed.runWhen(await killed.publish(), hasEnded);
    const published = { outcome: "published", generation_after: made.generation + 1 };
    expect(run).toMatchObject({ ...published, error: null });
    await expect.poll(served).toBe(made.generation + 1);
  });

  it("restores a new backup, and the one that was made before or refuses it by name", async () => {
    const listed = await killed.admin("GET", `/admin/backup/${made.backup}`);
    expect(listed).toMatchObject({ state: "complete", verified: { state: "verified" } });
    const { backup_id: id, ...job } = await jobsOf("/admin/backup/run");
    expect(job).toMatchObject({ state: "succeeded" });
    expect(await jobsOf(`/admin/backup/${id}/restore`)).toMatchObject({ state: "succeeded" });
    await expect.poll(served).toBe(made.generation + 2);
    const old = await jobsOf(`/admin/backup/${made.backup}/restore`);
    const restored = { state: "succeeded", generation: made.generation + 3, error: null };
    const refused = { state: "failed", error: { code: refusal } };
    expect(old).toMatchObject(refusal === null ? restored : refused);
    await expect.poll(served).toBe(made.generation + (refusal === null ? 3 : 2));
    await killed.admin("POST", "/admin/ingest/resume");
  });

  it("evaluates the alerts with the monitor's earlier state", async () => {
    await killed.admin("POST", "/admin/alerts/run");
    const earlier = async () => killed.admin<{ total: number }>("GET", "/admin/alerts/runs");
    await expect.poll(async () => (await earlier()).total).toBe(2);
  });

  it("serves and ingests over a later monitor, and refuses to evaluate, with what to do", async () => {
    await killed.service.kill();
    const folder = join(killed.folder, "state/do/chaos-AlertMonitor");
    for (const file of readdirSync(folder).filter((found) => found.endsWith(".sqlite"))) {
      const database = new DatabaseSync(join(folder, file));
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
});
