import { neededBlobs } from "../../../../src/parts/manifest.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { generationKey, MANIFEST_KEY } from "../../../../src/storage/keys.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).ingest.publishVersions(3));
let world: AdminWorld;

beforeEach(() => {
  world = new AdminWorld(installation);
});

const rollback = (body: unknown) => world.post("/admin/catalog/rollback", body);
const generations = () => world.ingest.coordinator.versions().map(({ generation }) => generation);

describe("GET /admin/catalog/versions", () => {
  it("lists the versions that a rollback can publish, the newest first", async () => {
    const answer = await world.request("/admin/catalog/versions");
    expect(answer.status).toBe(200);
    const { published_at, catalog_sha256, counts } = world.ingest.current() ?? {};
    expect(await answer.json()).toMatchObject({
      versions: [
        { generation: 3, published_at, catalog_sha256, counts, locales: ["en"], is_current: true },
        { generation: 2, is_current: false },
        { generation: 1, is_current: false },
      ],
    });
  });

  it("lists the newest of them within a limit, on one page", async () => {
    const answer = await world.request("/admin/catalog/versions?limit=2");
    expect(await answer.json()).toMatchObject({
      versions: [{ generation: 3 }, { generation: 2 }],
      next_cursor: null,
      total: 3,
    });
  });
});

describe("POST /admin/catalog/rollback", () => {
  it.each([
    [1, 4, true, "Generation 1 is published again, as 4."],
    [3, 3, false, "nothing changed"],
  ])(
    "answers generation %i with version %i, and the audit has the version before",
    async (to, now, changed, message) => {
      const answer = await rollback({ generation: to });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        version: { generation: now, is_current: true },
        changed,
        message: expect.stringContaining(message),
      });
      expect(world.audited).toMatchObject([
        {
          action: "catalog.rollback",
          target: String(to),
          outcome: "done",
          before: { generation: 3 },
          after: { generation: now },
        },
      ]);
    },
  );

  it("refuses a version if both stores have lost one of its files, and says what to do", async () => {
    const version = world.ingest.state.findRetained(1);
    for (const { sha256, isOfBody } of version ? neededBlobs(version) : [])
      if (isOfBody) world.installation.loseBlob(sha256);
    const answer = await rollback({ generation: 1 });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({
      code: "blobs_lost",
      detail: expect.stringContaining("Restore a backup"),
    });
    expect(generations()).toEqual([3, 2, 1]);
    expect(world.audited).toMatchObject([{ target: "1", outcome: "refused" }]);
  });

  it("refuses if another version than the expected one is current", async () => {
    const answer = await rollback({ generation: 1, expected_generation: 2 });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "generation_changed" });
    expect(generations()).toEqual([3, 2, 1]);
    expect(world.audited).toMatchObject([{ target: "1", outcome: "refused" }]);
  });

  it("says the second time that nothing changed, with the same version", async () => {
    const note = "bad names";
    const sent = { generation: 1, expected_generation: 3, note };
    const first = await (await rollback(sent)).json<{ version: object }>();
    expect(first.version).toMatchObject({ republishes: 1 });
    const again = await rollback(sent);
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ changed: false, version: first.version });
    expect(generations()).toEqual([4, 3, 2, 1]);
    expect(world.audited).toMatchObject([{ request: { note } }, { request: { note } }]);
  });
});

describe("a version that a store does not show yet", () => {
  beforeEach(() => {
    installation.before = (call) => {
      if (call === `catalog kv put ${MANIFEST_KEY}`) throw new Error("503");
    };
  });

  const published = { status: 503, code: "not_shown", outcome: "done" };

  it("is in the audit as a completed rollback, with its changes", async () => {
    await rollback({ generation: 2 });
    await rollback({ generation: 2 });
    expect(world.audited).toMatchObject([
      { ...published, target: "2", before: { generation: 3 }, after: { generation: 4 } },
      { ...published, target: "2", before: { generation: 4 }, after: { generation: 4 } },
    ]);
  });

  it("is in the audit as a take-over that was done", async () => {
    world.ingest.loseTables();
    await world.post("/admin/catalog/take-over", {});
    expect(world.audited).toMatchObject([{ ...published, after: { generation: 4, paused: true } }]);
  });
});

describe("POST /admin/catalog/take-over", () => {
  const takeOver = () => world.post("/admin/catalog/take-over", {});

  it("names the versions that it could not use", async () => {
    const { store } = world.ingest;
    const damaged = Uint8Array.of(0);
    store.r2.set(generationKey(3), damaged);
    store.kv.set(MANIFEST_KEY, damaged);
    store.bucket.damage(MANIFEST_KEY, () => damaged);
    world.ingest.loseTables();
    expect(await (await takeOver()).json()).toMatchObject({
      changed: true,
      message: expect.stringMatching(
        /may be older than before: catalog\/manifests\/3: .*restore a backup, or queue a run\./,
      ),
    });
    expect((await (await takeOver()).json<{ message: string }>()).message).not.toContain("older");
  });
});
