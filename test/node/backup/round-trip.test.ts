import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { PART_CONTENT_MAX_BYTES } from "../../../src/backup/format.ts";
import {
  backupManifestKey,
  backupObjectKey,
  backupPartKey,
  blobKey,
  sourceKey,
} from "../../../src/storage/keys.ts";
import { upstreamOf } from "../../../src/backup/state-part.ts";
import { parseVerdict } from "../../../src/backup/verdict.ts";
import { blobsOf, type Manifest } from "../../../src/parts/manifest.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { flipBit } from "../../builders/memory-bucket.ts";

const world = new BackupWorld();
startEachFrom(world, async () => {
  await world.ingest.publishVersions(3);
  await world.drain();
});

describe("a backup", () => {
  it("passes its verification with one read of each object, even if several locales share it", async () => {
    const { backup_id } = await world.backUp();
    const read: string[] = [];
    world.before = (call) => {
      const isObject = call.startsWith(`get ${backupObjectKey("")}`);
      if (isObject && world.stage === "check_catalog") read.push(call);
    };
    await world.verify(backup_id);
    expect(read.length).toBeGreaterThan(0);
    expect(read).toEqual([...new Set(read)]);
  });

  it("copies and restores the service's own tables, whatever else is in the database", async () => {
    const others = `
      CREATE TABLE notes (t text);
      INSERT INTO notes VALUES ('mine');
      CREATE TABLE "a ""b" (id INTEGER PRIMARY KEY, bytes BLOB);
      INSERT INTO "a ""b" VALUES (1, x'00');
      CREATE VIEW runs AS SELECT * FROM ingest_runs`;
    world.d1.database.exec(others);
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const { tables } = JSON.parse((await world.store.readManifest(backup_id)) ?? "");
    expect(Object.keys(tables).toSorted()).toEqual(["alert_runs", "audit", "ingest_runs"]);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded" });
    expect(world.d1.database.prepare("SELECT t FROM notes").all()).toEqual([{ t: "mine" }]);
  });

  it("writes only objects that no earlier backup has stored", async () => {
    const written = () => world.calls.filter((call) => call.startsWith("put backups/objects/"));
    await world.backUp();
    expect(written().length).toBeGreaterThan(0);
    world.calls.length = 0;
    await world.backUp();
    expect(written()).toEqual([]);
  });

  it("stores a damaged object of an earlier backup again", async () => {
    await world.backUp();
    const [blob = ""] = world.blobs();
    world.bucket.damage(backupObjectKey(blob), flipBit);
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it("lists lost objects as missing and restores the versions that are complete", async () => {
    const [, , oldest] = world.ingest.coordinator.versions();
    const manifest = world.ingest.state.findRetained(oldest?.generation ?? 0);
    const lost = [...(manifest === undefined ? [] : blobsOf(manifest))].find((blob) => {
      const others = world.ingest.coordinator
        .versions()
        .filter(({ generation }) => generation !== manifest?.generation)
        .flatMap(({ generation }) => world.ingest.state.findRetained(generation) ?? []);
      return !others.some((other) => blobsOf(other).has(blob));
    });
    world.loseBlob(lost);
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const text = (await world.store.readManifest(backup_id)) ?? "";
    expect(JSON.parse(text)).toMatchObject({ missing: [lost] });

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 4 });
    const generations = fresh.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([4, 3, 2]);
  });

  it("is verified when the archive has lost the upstream files, and its verdict says so", async () => {
    world.ingest.archive.bucket.files.clear();
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const verdict = parseVerdict(await world.store.readNote(backup_id, "verdict"));
    expect(verdict).toMatchObject({ message: expect.stringContaining("lacked upstream files") });
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded" });
  });

  it("has every upstream file of its versions and both files of its ledger, and brings them back", async () => {
    world.ingest.source = "other";
    world.crash();
    world.ingest.renameAirport("Waits");
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "unchanged" });
    const { state, coordinator } = world.ingest;
    const versions = coordinator
      .versions()
      .flatMap(({ generation }) => state.findRetained(generation) ?? []);
    const ofVersions = versions.flatMap(upstreamOf);
    const { accepted = "", held = "" } = state.savedLedger() ?? {};
    for (const file of [accepted, held]) expect(ofVersions).not.toContain(file);
    const { backup_id } = await world.backUp();
    const fresh = new BackupWorld(world);
    await fresh.restore(backup_id);
    for (const file of [...ofVersions, accepted, held])
      expect(fresh.ingest.archive.bucket.files.has(sourceKey(file)), file).toBe(true);
  });

  it("takes no object for lost while a store that may have it does not answer", async () => {
    const [blob = ""] = world.blobs();
    const refused = new Set([`catalog r2 get ${blobKey(blob)}`, `catalog kv get ${blobKey(blob)}`]);
    world.before = (call) => {
      if (refused.delete(call)) throw new Error("503");
    };
    const { backup_id, ...job } = await world.backUp();
    expect(refused.size).toBe(0);
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const text = (await world.store.readManifest(backup_id)) ?? "";
    expect(JSON.parse(text)).toMatchObject({ missing: [] });
  });

  it("lists the parts that its job has written, and no other part in its folder", async () => {
    world.before = () => {
      if (world.stage !== "write_manifest") return;
      world.before = () => {};
      const { backup_id } =
        world.ingest.coordinator.jobs().find(({ kind }) => kind === "run") ?? {};
      const prefix = backupPartKey(backup_id ?? "", "");
      for (const [key, bytes] of world.bucket.files) {
        if (!key.startsWith(prefix)) continue;
        // R2 may list a file without its hash, and a step that died may have left a part.
        world.bucket.lay(key.replace("000001", "000002"), bytes, world.bucket.recorded.get(key));
        world.bucket.lay(key, bytes);
      }
    };
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const { parts } = JSON.parse((await world.store.readManifest(backup_id)) ?? "");
    expect(parts.length).toBeGreaterThan(1);
    for (const { name } of parts) expect(name).toContain("000001");
  });

  it.each([
    ["what all locales share of a diff", ({ diffs }: Manifest) => diffs[0]?.common],
    ["the regions of a diff", ({ diffs }: Manifest) => diffs[0]?.local["en"]],
    ["the names of a locale", ({ locales }: Manifest) => locales["en"]?.names?.sha256],
  ])("restores a version with its bodies only if the stores have lost %s", async (_, lostOf) => {
    const current = world.ingest.current();
    world.loseBlob(current ? lostOf(current) : "");
    const { backup_id, ...job } = await world.backUp();
    expect(job).toMatchObject({ state: "succeeded", verdict: "verified" });
    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 4 });
    const generations = fresh.ingest.coordinator.versions().map((version) => version.generation);
    expect(generations).toEqual([4, 3, 2, 1]);
    const { diffs, shared, locales } = fresh.ingest.current() ?? {};
    expect(diffs).toEqual([]);
    const entries = Object.entries(current?.locales ?? {});
    const bodies = entries.map(([locale, { coverage, parts }]) => [locale, { coverage, parts }]);
    expect({ shared, locales: Object.entries(locales ?? {}) }).toEqual({
      shared: current?.shared,
      locales: bodies,
    });
  });

  it("exists but fails its verification if the published version has lost a blob", async () => {
    const current = world.ingest.current();
    const older = world.ingest.state.findRetained(2);
    const [lost = ""] = [...(current === null ? [] : blobsOf(current))].filter(
      (blob) => older === undefined || !blobsOf(older).has(blob),
    );
    const { backup_id: whole } = await world.backUp();
    world.loseBlob(lost);
    world.bucket.files.delete(backupObjectKey(lost));
    const { backup_id, ...job } = await world.backUp();
    expect(world.chainOf({ backup_id, ...job })).toMatchObject([
      { state: "succeeded" },
      {
        state: "failed",
        verdict: "failed",
        error: { code: "object_missing", stage: "check_catalog" },
      },
    ]);
    expect(world.bucket.files.has(backupManifestKey(backup_id))).toBe(true);
    expect(await world.restore(whole)).toMatchObject({ error: { code: "object_missing" } });
    world.ingest.renameAirport("Kloten");
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "published" });
    expect(await world.backUp()).toMatchObject({ state: "succeeded", verdict: "verified" });
  });
});

describe("a restore on an empty installation", () => {
  it("restores rows so long that few fit into a part", async () => {
    const MIB = 2 ** 20;
    const long = world.d1.database.prepare(
      "INSERT INTO ingest_runs (id, seq, run) VALUES (?, 1, ?)",
    );
    for (let n = 10; n < 20; n++)
      long.run(
        `00000000-0000-7000-8000-0000000000${n}`,
        JSON.stringify({ state: "succeeded", note: "é".repeat(MIB) }),
      );
    const { backup_id } = await world.backUp();
    const parts = [...world.bucket.files]
      .filter(([key]) => key.startsWith(backupPartKey(backup_id, "d1.ingest_runs.")))
      .map(([, bytes]) => gunzipSync(bytes).length);
    expect(parts).toHaveLength(2);
    expect(Math.max(...parts)).toBeLessThanOrEqual(PART_CONTENT_MAX_BYTES);

    const fresh = new BackupWorld(world);
    expect(await fresh.restore(backup_id)).toMatchObject({ state: "succeeded", error: null });
    expect(fresh.rows("ingest_runs")).toEqual(world.rows("ingest_runs"));
  });

  it("ends the row of a run that was in progress when the backup was made", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue();
    await world.drain(() => world.ingest.run(run.id).stage === "encode");
    await world.ingest.coordinator.pause({ by: "ops", note: null, until: null }, false);
    const { backup_id } = await world.backUp();
    const fresh = new BackupWorld(world);
    await fresh.restore(backup_id);
    const row = () => fresh.rows("ingest_runs").find((each) => "id" in each && each.id === run.id);
    expect(row()).toMatchObject({ state: "running" });
    await fresh.ingest.coordinator.reconcile();
    await fresh.drain();
    expect(row()).toMatchObject({ state: "failed", run: expect.stringContaining('"lost"') });
  });
});
