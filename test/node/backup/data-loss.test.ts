import { describe, expect, it } from "vitest";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { BackupWorld } from "../../builders/backup-world.ts";

const EVERYTHING = "everything but the backups";

/** What may be lost. The backups have a bucket of their own. */
const LOSSES: { readonly [what: string]: (world: BackupWorld) => void } = {
  KV: ({ ingest }) => ingest.store.kv.clear(),
  "the archive": loseArchive,
  "KV and the archive": (world) => {
    LOSSES["KV"]?.(world);
    loseArchive(world);
  },
  "every blob of both": (world) => world.blobs().forEach((blob) => world.loseBlob(blob)),
  [EVERYTHING]: (world) => {
    LOSSES["KV and the archive"]?.(world);
    world.ingest.loseTables();
  },
};

function loseArchive({ ingest }: BackupWorld): void {
  ingest.store.r2.clear();
  ingest.archive.bucket.files.clear();
}

/** Lets the cron trigger look at the stores, as it does every five minutes. */
async function pass(world: BackupWorld): Promise<void> {
  world.ingest.time += 300_000;
  await world.ingest.coordinator.reconcile();
  await world.drain();
}

/** Whether each store has the current manifest and every blob that it names. */
async function isWhole({ ingest: { store } }: BackupWorld): Promise<boolean> {
  for (const replica of ["kv", "r2"] as const) {
    const manifest = await store.readManifest(replica);
    if (!manifest.ok) return false;
    for (const blob of manifestBlobs(manifest.value))
      if (!(await store.checkBlob(replica, blob)).ok) return false;
  }
  return true;
}

/** Whether a reader finds every body of the current version. */
async function areBodiesReadable({ ingest }: BackupWorld): Promise<boolean> {
  const manifest = await ingest.served();
  const bodies = Object.values(manifest?.locales ?? {}).flatMap((entry) =>
    Object.values(entry.bodies).flatMap((codings) => Object.values(codings)),
  );
  for (const body of bodies) if (!(await tryReadBody(ingest.store, body)).ok) return false;
  return bodies.length > 0;
}

/** An installation that serves what its only backup has; paused if that was restored. */
async function anInstallation(isRestored: boolean) {
  const world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(2);
  const { backup_id } = await world.backUp();
  const saved = (await world.ingest.served())?.locales;
  if (isRestored) await world.restore(backup_id);
  else await world.ingest.publishVersions(1);
  return { world, backup_id, saved };
}

describe.each(Object.entries(LOSSES))("after the loss of %s", (lost, lose) => {
  it.each([
    ["once more, which paused ingestion", true],
    ["for the first time", false],
  ])("one call restores a backup %s, and its bytes are served", async (__, isRestored) => {
    const { world, backup_id, saved } = await anInstallation(isRestored);
    lose(world);
    await pass(world);
    // A new coordinator over empty stores ingests by itself.
    expect(await isWhole(world)).toBe(lost === EVERYTHING);
    expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", error: null });
    expect((await world.ingest.served())?.locales).toEqual(saved);
    expect(await isWhole(world)).toBe(true);
  });

  it("the next daily run, which finds nothing new, ends with every body readable", async () => {
    const { world } = await anInstallation(false);
    lose(world);
    expect(await world.ingest.runToEnd()).toMatchObject({ state: "succeeded" });
    await pass(world);
    expect(await areBodiesReadable(world)).toBe(true);
  });

  it.each([
    ["a full run brings the catalog back, without force", false],
    ["a full run and resume bring the catalog back, without force, after a restore", true],
  ])("%s", async (__, isRestored) => {
    const { world } = await anInstallation(isRestored);
    lose(world);
    await pass(world);
    world.ingest.renameAirport("Unlike what was lost");
    const { run } = await world.ingest.enqueue({ mode: "full" });
    if (isRestored) await world.ingest.coordinator.resume();
    await world.drain();
    expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published", guards: [] });
    expect(await isWhole(world)).toBe(true);
  });
});

it("a restore of a backup from before the first publication fails and says why", async () => {
  const world = new BackupWorld(undefined, ["en"]);
  const { backup_id } = await world.backUp();
  await world.ingest.publishVersions(1);
  const served = await world.ingest.served();
  expect(await world.restore(backup_id)).toMatchObject({
    state: "failed",
    error: { code: "nothing_published", stage: "restore_objects" },
  });
  expect(await world.ingest.served()).toEqual(served);
  expect(world.ingest.coordinator.status().pause).toBeNull();
});
