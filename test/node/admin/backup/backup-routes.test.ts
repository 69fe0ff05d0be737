import { beforeEach, describe, expect, it } from "vitest";
import type { BackupJob } from "../../../../src/schemas/backup-job.ts";
import { AdminWorld, type Json } from "../../../builders/admin-world.ts";
import { backupManifestKey } from "../../../../src/storage/keys.ts";
import { anId } from "../../../builders/an-id.ts";
import { storeGoodBackup } from "../../../builders/stored-backup.ts";

let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld();
});

/** The header of a request and of its repetitions. */
const KEY = { "idempotency-key": "7c1f6c7e-0000-4000-8000-000000000001" };

describe("POST /admin/backup/run", () => {
  it("answers 202 with the location of the backup, and 200 with the same one to a repeated request", async () => {
    for (const changed of [true, false]) {
      const answer = await world.post("/admin/backup/run", { note: "why", pin: true }, KEY);
      expect(answer.status).toBe(changed ? 202 : 200);
      const [verification, job] = world.ingest.coordinator.jobs(10);
      expect(answer.headers.get("location")).toBe(`/admin/backup/${job?.backup_id}`);
      expect(await answer.json()).toMatchObject({
        changed,
        job: { ...job, chain: [job?.id, verification?.id] },
        backup: { id: job?.backup_id, state: "queued", trigger: "manual", finished_at: null },
      });
    }
    expect(world.ingest.coordinator.jobs(10)).toHaveLength(2);
    expect(world.audited).toMatchObject([
      { action: "backup.run", outcome: "done", after: { changed: true } },
      { action: "backup.run", outcome: "done", after: { changed: false } },
    ]);
  });

  it("answers 202 for a started backup even if R2 cannot show it", async () => {
    world.backups.before = () => {
      throw new Error("R2 is away");
    };
    const answer = await world.post("/admin/backup/run");
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ changed: true, backup: null });
    expect(world.audited).toMatchObject([{ action: "backup.run", outcome: "done" }]);
  });
});

describe("the routes that list backups and jobs", () => {
  it("list a backup whose manifest is too long as damaged, and read no more of it than its size", async () => {
    storeGoodBackup(world.backups, anId(1));
    await world.backups.put(backupManifestKey(anId(1)), " ".repeat(4 * 1024 * 1024 + 1));
    const get = world.backups.get.bind(world.backups);
    let read = 0;
    world.backups.get = async (key) => {
      const object = await get(key);
      return object && Object.assign(object, { text: async () => `${(read += object.size)}` });
    };
    const answer = await world.request("/admin/backup/list");
    expect((await answer.json<{ backups: object[] }>()).backups).toMatchObject([
      { state: "damaged", problem: expect.stringContaining("too long") },
    ]);
    expect(read).toBeLessThan(1_000);
  });

  it("name folders that are no backup's, which nothing else does", async () => {
    storeGoodBackup(world.backups, anId(1));
    await world.backups.put("backups/objects/00", "a shared object");
    await world.backups.put("backups/2026-11-28/manifest.json", "{}");
    const listed = await (await world.request("/admin/backup/list")).json();
    expect(listed).toMatchObject({ total: 1, other_folders: ["2026-11-28"] });
  });

  it("include the waiting backups, in pages", async () => {
    for (const number of [1, 2, 3]) storeGoodBackup(world.backups, anId(number));
    await world.backups.put(backupManifestKey(anId(2)), "{");
    const asked = await (await world.post("/admin/backup/run")).json<{ job: { id: string } }>();
    const ids = async (query: string) => {
      const answer = await world.request(`/admin/backup/list${query}`);
      const { backups, ...page } = await answer.json<{ backups: { id: string }[] }>();
      return { ...page, ids: backups.map(({ id }) => id) };
    };
    const first = await ids("?limit=2");
    expect(first).toMatchObject({ ids: [asked.job.id, anId(3)], total: 4 });
    const { next_cursor } = first as unknown as { next_cursor: string };
    expect(await ids(`?limit=2&cursor=${next_cursor}`)).toMatchObject({
      ids: [anId(2), anId(1)],
      next_cursor: null,
    });
  });

  it("return jobs in pages", async () => {
    await world.ingest.publishVersions(1);
    const { backup_id, id } = await world.installation.backUp();
    await world.post(`/admin/backup/${backup_id}/verify`);
    const jobs = async (query: string) =>
      (await world.request(`/admin/backup-jobs${query}`)).json<Json>();
    const first = await jobs("?limit=1");
    expect(first).toMatchObject({ jobs: [{ kind: "verify", state: "queued" }], total: 3 });
    expect(await jobs(`?limit=2&cursor=${String(first["next_cursor"])}`)).toMatchObject({
      jobs: [{ kind: "verify", state: "succeeded" }, { id }],
      next_cursor: null,
    });
  });
});

describe("the routes of one backup", () => {
  it("pin and unpin it repeatedly, and the audit names the operator", async () => {
    storeGoodBackup(world.backups, anId(1));
    for (const [verb, pinned, changed] of [
      ["pin", true, true],
      ["pin", true, false],
      ["unpin", false, true],
    ] as const) {
      const answer = await world.post(`/admin/backup/${anId(1)}/${verb}`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ changed, backup: { id: anId(1), pinned } });
      const shown = await world.request(`/admin/backup/${anId(1)}`);
      expect(await shown.json()).toMatchObject({ pinned });
    }
    expect(world.audited).toMatchObject([
      { action: "backup.pin", actor: "ops", target: anId(1), before: { pinned: false } },
      { action: "backup.pin", before: { pinned: true }, after: { pinned: true } },
      { action: "backup.unpin", before: { pinned: true }, after: { pinned: false } },
    ]);
  });

  it("queue a restore after a backup of the present state, and return that job to a repeated request", async () => {
    await world.ingest.publishVersions(1);
    const { backup_id } = await world.installation.backUp();
    const restore = async (status: number) => {
      const note = "bad names";
      const answer = await world.post(`/admin/backup/${backup_id}/restore`, { note }, KEY);
      expect(answer.status).toBe(status);
      return answer.json<{ job: BackupJob }>();
    };
    const first = await restore(202);
    const [undo, id] = first.job.chain;
    expect(first).toMatchObject({
      changed: true,
      job: { id, kind: "restore", backup_id, note: "bad names", requested_by: "ops" },
      message: expect.stringContaining(`to undo the restore, restore ${undo}`),
    });
    expect(await restore(200)).toMatchObject({
      changed: false,
      job: first.job,
      message: expect.stringContaining("was queued before"),
    });
    expect((await world.request(`/admin/backup/${undo}`)).status).toBe(200);
  });

  it("delete it, and say the second time that nothing changed", async () => {
    await world.ingest.publishVersions(1);
    const { backup_id } = await world.installation.backUp();
    await world.installation.backUp();
    for (const changed of [true, false]) {
      const answer = await world.request(`/admin/backup/${backup_id}?note=old`, {
        method: "DELETE",
      });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ changed });
    }
    expect(world.audited).toMatchObject([
      { action: "backup.delete", target: backup_id, request: { note: "old" } },
      { action: "backup.delete", target: backup_id, after: { changed: false } },
    ]);
    const audit = async (target: string) =>
      (await world.request(`/admin/audit?target=${target}`)).json();
    expect(await audit(backup_id)).toMatchObject({ total: 2 });
    expect(await audit(anId(9))).toMatchObject({ total: 0 });
  });
});
