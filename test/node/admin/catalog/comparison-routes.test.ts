import { beforeEach, describe, expect, it } from "vitest";
import { blobsOf } from "../../../../src/parts/manifest.ts";
import { blobKey } from "../../../../src/storage/keys.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).ingest.publishVersions(3));
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

const compare = async (query: string, status = 200) => {
  const answer = await world.request(`/admin/catalog/comparison${query}`);
  expect(answer.status).toBe(status);
  return answer.json();
};
/** What renaming the only airport that `publishVersions` renames looks like. */
const renamed = (before: string, after: string) => ({
  airports: {
    counts: { added: 0, changed: 1, removed: 0 },
    changed: [{ before: { name: before }, after: { name: after } }],
  },
});

/** Deletes the blobs of a version that the current one does not have. */
function loseBlobsOf(generation: number): void {
  const current = world.ingest.current();
  const version = world.ingest.state.findRetained(generation);
  if (current === null || version === undefined) throw new Error("no such version");
  for (const blob of [...blobsOf(version)].filter((each) => !blobsOf(current).has(each)))
    for (const replica of [world.store.kv, world.store.r2]) replica.delete(blobKey(blob));
}

describe("GET /admin/catalog/comparison", () => {
  it("says what a rollback would change, with the counts of both versions", async () => {
    const { counts } = world.ingest.current() ?? {};
    expect(await compare("?to=1")).toMatchObject({
      from: { generation: 3, counts },
      to: { generation: 1, counts },
      changes: renamed("Airport 3", "Airport 1"),
    });
    expect(await compare("?from=1")).toMatchObject({
      to: { generation: 3 },
      changes: renamed("Airport 1", "Airport 3"),
    });
  });

  it("answers after a rollback, for which no diff is stored", async () => {
    await world.post("/admin/catalog/rollback", { generation: 1 });
    await world.ingest.drain();
    expect(await compare("?to=3")).toMatchObject({
      from: { generation: 4 },
      changes: renamed("Airport 1", "Airport 3"),
    });
  });

  it("says what a restore would change, also once the catalog has lost its bytes", async () => {
    const { backup_id: id } = await world.installation.backUp();
    await world.ingest.publishVersions(1);
    const expected = { to: { generation: 3 }, changes: renamed("Airport 4", "Airport 3") };
    expect(await compare(`?to=${id}`)).toMatchObject(expected);
    loseBlobsOf(3);
    expect(await compare(`?to=${id}`)).toMatchObject(expected);
  });

  it("gives the counts even if no store has the bytes of a version", async () => {
    loseBlobsOf(1);
    expect(await compare("?to=1")).toMatchObject({ to: { generation: 1 }, changes: null });
  });

  it.each([
    ["?to=9", 404, "generation_not_retained"],
    ["?to=0199aa3c-0000-7000-8000-000000000001", 404, "backup_not_found"],
    ["?to=x", 400, "invalid_query"],
  ])("refuses %s with %i %s", async (query, status, code) => {
    expect(await compare(query, status)).toMatchObject({ code });
  });

  it("refuses a backup that a restore cannot use, with the reason", async () => {
    const { backup_id: id } = await world.installation.backUp();
    for (const key of world.backups.files.keys())
      if (key.includes(`${id}/parts/state`)) world.backups.files.delete(key);
    expect(await compare(`?to=${id}`, 409)).toMatchObject({
      code: "backup_unusable",
      detail: expect.stringContaining("is missing"),
    });
  });

  it("says that nothing is published", async () => {
    world = new AdminWorld();
    expect(await compare("", 404)).toMatchObject({ code: "nothing_published" });
  });
});
