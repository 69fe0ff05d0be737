import { describe, expect, it } from "vitest";
import { blobsOf } from "../../../src/parts/manifest.ts";
import { tryReadBody } from "../../../src/storage/catalog-store.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { MIGRATIONS } from "../../builders/memory-d1.ts";
import { bodiesOf } from "../../builders/parts.ts";

/** What may be lost. The backups have a bucket of their own. */
const STORES = {
  KV: ({ ingest }) => ingest.store.kv.clear(),
  "the archive": ({ ingest }) => {
    ingest.store.r2.clear();
    ingest.archive.bucket.files.clear();
  },
  "the coordinator": ({ ingest }) => ingest.loseTables(),
  "the tables of D1": ({ d1 }) => {
    for (const [, table] of MIGRATIONS.flatMap(({ sql }) => [
      ...sql.matchAll(/CREATE TABLE `(\w+)`/g),
    ]))
      d1.database.exec(`DROP TABLE IF EXISTS ${table}`);
  },
} as const satisfies { readonly [store: string]: (world: BackupWorld) => void };

type Store = keyof typeof STORES;

/** Every choice of at least one of them. */
const LOSSES = Object.keys(STORES).reduce<readonly (readonly Store[])[]>(
  (chosen, store) => [...chosen, ...[[], ...chosen].map((others) => [...others, store as Store])],
  [],
);

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
    for (const blob of blobsOf(manifest.value))
      if (!(await store.checkBlob(replica, blob)).ok) return false;
  }
  return true;
}

/** Whether a reader finds every body of the current version. */
async function areBodiesReadable({ ingest }: BackupWorld): Promise<boolean> {
  const manifest = await ingest.served();
  const bodies = manifest ? bodiesOf(manifest) : [];
  for (const body of bodies) if (!(await tryReadBody(ingest.store, body)).ok) return false;
  return bodies.length > 0;
}

/** Serves what its only backup has; paused if that was restored. */
async function makeInstallation(isRestored: boolean) {
  const world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  const { backup_id } = await world.backUp();
  const saved = (await world.ingest.served())?.locales;
  const history = world.rows("ingest_runs").length;
  if (isRestored) await world.restore(backup_id);
  else await world.ingest.publishVersions(1);
  return { world, goBack: world.remember(), backup_id, saved, history };
}

const installations = new Map<boolean, ReturnType<typeof makeInstallation>>();

/** The installation as it was made, once for all tests. */
async function anInstallation(isRestored: boolean) {
  const made = installations.get(isRestored) ?? makeInstallation(isRestored);
  installations.set(isRestored, made);
  const { goBack, ...installation } = await made;
  goBack();
  return installation;
}

/** Loses stores, and lets the service look at them. */
async function lose(world: BackupWorld, lost: readonly Store[]): Promise<void> {
  for (const store of lost) STORES[store](world);
  await pass(world);
}

describe.each([
  ["a restore", false],
  ["a restore after another, which paused ingestion,", true],
])("%s", (_, isRestored) => {
  // The pause makes no difference to what several losses have in common.
  const losses = LOSSES.filter((lost) => !isRestored || lost.length === 1);

  it.each(losses.map((lost) => [lost.join(", "), lost] as const))(
    "serves what was saved after the loss of %s",
    async (__, lost) => {
      const { world, backup_id, saved, history } = await anInstallation(isRestored);
      await lose(world, lost);
      const { coordinator } = world.ingest;
      if (coordinator.status().foreign !== null) await coordinator.takeOver("ops");
      expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", error: null });
      expect((await world.ingest.served())?.locales).toEqual(saved);
      expect(await isWhole(world)).toBe(true);
      expect(world.rows("ingest_runs").length).toBeGreaterThanOrEqual(history);
    },
  );
});

describe.each([
  ["a full run", false],
  ["a full run that starts at the resume after a restore", true],
])("%s", (_, isRestored) => {
  it.each([[["KV"]], [["the archive"]], [["KV", "the archive"]]] as const)(
    "brings the catalog back without force after the loss of %s",
    async (lost) => {
      const { world } = await anInstallation(isRestored);
      await lose(world, lost);
      world.ingest.renameAirport("Unlike what was lost");
      const { run } = await world.ingest.enqueue({ mode: "full" });
      if (isRestored) await world.ingest.coordinator.resume();
      await world.drain();
      expect(world.ingest.run(run.id)).toMatchObject({ outcome: "published", guards: [] });
      expect(await isWhole(world)).toBe(true);
    },
  );
});

describe("the next daily run, which finds nothing new,", () => {
  it.each([[["KV"]], [["the archive"]], [["KV", "the archive"]]] as const)(
    "ends with every body readable after the loss of %s",
    async (lost) => {
      const { world } = await anInstallation(false);
      for (const store of lost) STORES[store](world);
      expect(await world.ingest.runToEnd()).toMatchObject({ state: "succeeded" });
      await pass(world);
      expect(await areBodiesReadable(world)).toBe(true);
    },
  );
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
