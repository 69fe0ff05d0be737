import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { PART_CONTENT_MAX_BYTES } from "../../../src/backup/format.ts";
import { backupObjectKey, backupPartKey } from "../../../src/storage/keys.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld();
  await world.ingest.publishVersions(3);
  await world.drain();
});

/** What is there, without the number that audit entries and versions add to. */
async function comparable(of: BackupWorld) {
  const { state, ...others } = await of.everything();
  const { versions, ...tables } = state;
  return { ...others, tables, versions };
}

describe("a backup", () => {
  it("is made, proved, and lets the ingest go on", async () => {
    const job = await world.backUp({ note: "before the holidays", pin: true });
    expect(job).toMatchObject({
      kind: "run",
      state: "succeeded",
      verdict: "verified",
      error: null,
      backupId: job.id,
    });
    world.ingest.renameAirport("Kloten");
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "published" });
  });

  it("writes only objects that no earlier one has", async () => {
    await world.backUp();
    world.calls.length = 0;
    await world.backUp();
    expect(world.calls.filter((call) => call.startsWith(`put ${backupObjectKey("")}`))).toEqual([]);
    await world.ingest.publishVersions(1);
    world.calls.length = 0;
    await world.backUp();
    const written = world.calls.filter((call) => call.startsWith(`put ${backupObjectKey("")}`));
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(world.blobs().length);
  });

  it("writes an object anew that has been damaged since", async () => {
    await world.backUp();
    const [blob = ""] = world.blobs();
    world.store.damage(backupObjectKey(blob), flipBit);
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it("is one of what a run under way has done between two steps, and the run goes on", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
    expect(world.ingest.run(run.id)).toMatchObject({ state: "succeeded", outcome: "published" });
  });
});

describe("a restore on an empty installation", () => {
  it("brings back the same tables, versions, pause and bytes, and publishes them anew", async () => {
    await world.ingest.coordinator.pause({ by: "ops", reason: "holidays", until: null }, false);
    await world.ingest.enqueue({ note: "waits" });
    await world.drain();
    const before = await comparable(world);
    expect(before.history.length).toBeGreaterThan(3);
    const { backupId } = await world.backUp();

    const fresh = new BackupWorld(world);
    const restored = await fresh.restore(backupId);
    expect(restored).toMatchObject({ state: "succeeded", generation: 4, error: null });
    const after = await comparable(fresh);
    expect(after.history).toEqual(before.history);
    expect(after.tables).toEqual(before.tables);
    expect(after.versions.slice(0, -1)).toEqual(before.versions);
    expect(after.served).toEqual({
      ...before.served,
      generation: 4,
      published_at: expect.any(String),
    });
    for (const sha256 of fresh.blobs())
      for (const replica of ["kv", "r2"] as const)
        expect(await fresh.ingest.store.readBlob(replica, sha256)).toEqual(
          await world.ingest.store.readBlob("r2", sha256),
        );
  });

  it("brings back also rows so long that a part takes few of them", async () => {
    const MIB = 2 ** 20;
    const columns = world.d1.database.prepare("PRAGMA table_info(ingest_runs)").all();
    const others = columns
      .map(({ name }) => String(name))
      .filter((name) => !/^(id|note)$/.test(name));
    const long = world.d1.database.prepare(
      `INSERT INTO ingest_runs (id, note, ${others.join()})
       SELECT ?, ?, ${others.join()} FROM ingest_runs LIMIT 1`,
    );
    for (let n = 10; n < 30; n++)
      long.run(`00000000-0000-7000-8000-0000000000${n}`, "é".repeat(MIB));
    const { backupId } = await world.backUp();
    const parts = [...world.store.files]
      .filter(([key]) => key.startsWith(backupPartKey(backupId, "d1.ingest_runs.")))
      .map(([, { bytes }]) => gunzipSync(bytes).length);
    expect(parts).toHaveLength(3);
    expect(Math.max(...parts)).toBeLessThanOrEqual(PART_CONTENT_MAX_BYTES);

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backupId)).toMatchObject({ state: "succeeded", error: null });
    expect(fresh.rows("ingest_runs")).toEqual(world.rows("ingest_runs"));
  });

  it("takes a backup of a Worker whose runs had no candidates and no changes", async () => {
    const { database } = world.d1;
    database.exec("ALTER TABLE ingest_runs DROP COLUMN candidate_of");
    database.exec("ALTER TABLE ingest_runs DROP COLUMN changes");
    const runs = world.ingest.tables.sql;
    const stripped = "json_remove(record, '$.run.candidateOf', '$.run.changes')";
    runs.exec(`UPDATE runs SET record = ${stripped}`);
    const { backupId } = await world.backUp();

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backupId)).toMatchObject({ state: "succeeded", error: null });
    const before = world.rows("ingest_runs");
    expect(before.length).toBeGreaterThan(0);
    expect(fresh.rows("ingest_runs")).toEqual(
      before.map((row) => ({ ...row, candidate_of: null, changes: null })),
    );
    fresh.ingest.renameAirport("Kloten");
    expect(await fresh.ingest.runToEnd()).toMatchObject({ outcome: "published" });
  });

  it("goes on where the queue was: a run that waits is done after the resume", async () => {
    await world.ingest.coordinator.pause({ by: "ops", reason: null, until: null }, false);
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain();
    const { backupId } = await world.backUp();
    const fresh = new BackupWorld(world);
    fresh.ingest.renameAirport("Kloten");
    await fresh.restore(backupId);
    await fresh.ingest.coordinator.resume();
    await fresh.drain();
    expect(fresh.ingest.run(run.id)).toMatchObject({ state: "succeeded", generationAfter: 5 });
    expect(fresh.rows("ingest_runs").find((row) => "id" in row && row.id === run.id)).toMatchObject(
      {
        state: "succeeded",
      },
    );
  });

  it("ends a run that was under way in the backup, also in the history", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    const { backupId } = await world.backUp();
    const fresh = new BackupWorld(world);
    await fresh.restore(backupId);
    expect(fresh.ingest.run(run.id)).toMatchObject({
      state: "failed",
      error: { code: "restored" },
    });
    expect(fresh.rows("ingest_runs").find((row) => "id" in row && row.id === run.id)).toMatchObject(
      {
        state: "failed",
      },
    );
  });
});

describe("a restore where there is something", () => {
  it("can be undone by the backup that it has made", async () => {
    const { backupId } = await world.backUp();
    await world.ingest.publishVersions(2);
    await world.ingest.coordinator.pause({ by: "ops", reason: "later", until: null }, false);
    await world.drain();
    const present = await comparable(world);

    const { wayBackId, generation } = await world.restore(backupId);
    expect(generation).toBe(6);
    expect(world.ingest.coordinator.status().pause).toBeNull();
    expect((await world.ingest.served())?.catalog_sha256).not.toBe(present.served?.catalog_sha256);

    const undone = await world.restore(wayBackId ?? "");
    expect(undone).toMatchObject({ state: "succeeded", generation: 7 });
    const after = await comparable(world);
    expect(after.history).toEqual(present.history);
    expect(after.tables["runs"]).toEqual(present.tables["runs"]);
    expect(after.tables["facts"]).toEqual(present.tables["facts"]);
    expect(after.versions.slice(0, -1)).toEqual(present.versions);
    expect(after.served?.locales).toEqual(present.served?.locales);
  });

  it("publishes above every generation that was ever seen, here or there", async () => {
    const { backupId } = await world.backUp();
    const other = new BackupWorld(world);
    await other.ingest.publishVersions(8);
    await other.drain();
    expect(await other.restore(backupId)).toMatchObject({ state: "succeeded", generation: 9 });
    expect(await other.ingest.served()).toMatchObject({ generation: 9 });
    const generations = other.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([9, 3, 2, 1]);
  });

  it("keeps a pause that somebody has set while it was under way", async () => {
    const { backupId } = await world.backUp();
    world.before = async (call) => {
      if (call === "d1 stage")
        await world.ingest.coordinator.pause({ by: "ops", reason: "stop", until: null }, false);
    };
    await world.restore(backupId);
    expect(world.ingest.coordinator.status().pause).toMatchObject({ reason: "stop" });
  });

  it("takes no run into the queue that it replaces", async () => {
    const { backupId } = await world.backUp();
    const seen: string[] = [];
    world.before = async (call) => {
      if (call !== "d1 stage") return;
      const answer = await world.ingest.coordinator.enqueue(anEnqueueRequest());
      seen.push(answer.ok ? "queued" : answer.reason);
    };
    await world.restore(backupId);
    expect(seen).toEqual(["restoring"]);
  });
});

function flipBit(bytes: Uint8Array): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  return bytes.map((byte, index) => (index === middle ? byte ^ 1 : byte));
}
