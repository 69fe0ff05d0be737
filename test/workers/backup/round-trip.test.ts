import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { compareText } from "../../../src/catalog/integrity.ts";
import { type Manifest, manifestBlobs } from "../../../src/catalog/manifest.ts";
import type { BackupJob } from "../../../src/schemas/backup-job.ts";
import {
  coordinator,
  RUN_TIMEOUT_MS,
  runToEnd,
  servedManifest,
  store,
} from "../ingest/coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "../ingest/small-world.ts";
import {
  databaseTables,
  historyIsWritten,
  jobsOf,
  listKeys,
  wipeAllButBackups,
} from "./installation.ts";

const LOCALES = ["en", "de", "ja"];

/** What clients get: the hash of the body in each locale. */
async function servedBytes(): Promise<readonly string[]> {
  const path = "/locations.v1.LocationsService/GetLocationsV1";
  const answers = LOCALES.map((locale) =>
    exports.default.fetch(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ locale }),
    }),
  );
  const bodies = (await Promise.all(answers)).map((answer) => answer.arrayBuffer());
  return (await Promise.all(bodies)).map((bytes) => sha256Hex(new Uint8Array(bytes)));
}

/** What a restore brings back: the history, the retained versions with their blobs, and the answers. */
async function everything() {
  const { audit: _, ...tables } = await databaseTables();
  return {
    tables,
    versions: await versions(),
    blobs: await readBlobs(),
    bytes: await servedBytes(),
  };
}

let before: Awaited<ReturnType<typeof everything>>;
let made: readonly BackupJob[];
let second: readonly BackupJob[];
let objectsAfterFirst: readonly string[];
let objectsAfterSecond: readonly string[];
let restored: readonly BackupJob[];

/** The manifests of the retained versions, newest first. */
async function versions(): Promise<Manifest[]> {
  const copies = (await coordinator().versions()).map(({ generation }) =>
    store.readGeneration(generation),
  );
  return (await Promise.all(copies)).map((copy) => {
    if (!copy.ok) throw new Error(copy.detail);
    return copy.value;
  });
}

async function readBlobs(): Promise<[string, string][]> {
  const blobs: [string, string][] = [];
  for (const manifest of await versions())
    for (const sha256 of manifestBlobs(manifest))
      for (const replica of ["kv", "r2"] as const) {
        const copy = await store.readBlob(replica, sha256);
        blobs.push([`${replica} ${sha256}`, copy.ok ? sha256Hex(copy.value) : copy.fault]);
      }
  return [...new Map(blobs)].toSorted(([a], [b]) => compareText(a, b));
}

beforeAll(async () => {
  await dropAirports(SMALL_AIRPORTS);
  await runToEnd({ source: "dropped" });
  await dropAirports(SMALL_AIRPORTS - 3);
  await runToEnd({ source: "dropped" });
  await coordinator().pause({ by: "ops", note: "holidays", until: null }, false);
  await historyIsWritten();
  before = await everything();
  made = await jobsOf("/admin/backup/run", { note: "before the holidays" });
  objectsAfterFirst = await listKeys(env.BACKUPS, "backups/objects/");
  second = await jobsOf("/admin/backup/run");
  objectsAfterSecond = await listKeys(env.BACKUPS, "backups/objects/");
  await wipeAllButBackups();
  restored = await jobsOf(`/admin/backup/${made[0]?.backup_id}/restore`);
  await evictDurableObject(coordinator());
}, 2 * RUN_TIMEOUT_MS);

/** The jobs of a backup that proved good. */
const BACKED_UP = [
  { kind: "run", state: "succeeded", error: null },
  { kind: "verify", state: "succeeded", error: null, verdict: "verified" },
] as const;

describe("a backup of an installation with history, versions and a pause", () => {
  it("passes its verification: the archived upstream bytes give the published catalog", () => {
    expect(made).toMatchObject(BACKED_UP);
    expect(before.tables["ingest_runs"]).toHaveLength(2);
    expect(before.versions).toHaveLength(2);
  });

  it("shares its objects with the next backup, which writes no object again", () => {
    expect(second).toMatchObject(BACKED_UP);
    expect(objectsAfterFirst.length).toBeGreaterThan(20);
    expect(objectsAfterSecond).toEqual(objectsAfterFirst);
  });
});

describe("a restore after the loss of everything else", () => {
  it("succeeds between a backup of the present state and its verification", () => {
    const [backup, verification] = BACKED_UP;
    expect(restored).toMatchObject([
      backup,
      { kind: "restore", state: "succeeded", error: null, generation: 3 },
      verification,
    ]);
  });

  it("brings back the history, the pause, the versions and their blobs, and serves as before", async () => {
    await expect.poll(servedBytes, { interval: 500 }).toEqual(before.bytes);
    const { versions: after, ...others } = await everything();
    const { versions: saved, ...othersBefore } = before;
    expect(others).toEqual(othersBefore);
    expect(after.slice(1)).toEqual(saved);
    expect((await coordinator().status()).pause).toMatchObject({ by: "ops", note: "holidays" });
  });

  it("publishes the restored version under the next generation", async () => {
    const published = { generation: 3, published_at: expect.any(String) };
    expect(await servedManifest()).toEqual({ ...before.versions[0], ...published });
  });

  it(
    "lets ingestion continue after the resume, under the next generation",
    async () => {
      await dropAirports(SMALL_AIRPORTS);
      await coordinator().resume();
      const run = await runToEnd({ source: "dropped" });
      expect(run).toMatchObject({ state: "succeeded", outcome: "published", generation_after: 4 });
    },
    RUN_TIMEOUT_MS,
  );
});
