import { beforeEach, describe, expect, it } from "vitest";
import { listIds } from "../../../src/backup/read-backups.ts";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import {
  BACKUP_OBJECTS_PREFIX,
  backupManifestKey,
  backupNoteKey,
  backupObjectKey,
  backupPartKey,
} from "../../../src/storage/keys.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { toBytes } from "../../builders/memory-bucket.ts";
import { aBackup } from "../../builders/stored-backup.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

let world: BackupWorld;

beforeEach(async () => {
  world = new BackupWorld(undefined, ["en"]);
  await world.ingest.publishVersions(1);
  await world.drain();
});

/** An id of a backup of long ago; it ascends with `number`. */
const oldId = (number: number) => `019a0000-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** Stores a file as if it had been there for so long. */
function store(key: string, content: string | Uint8Array, ageMs: number): void {
  const recorded = { sha256: sha256Hex(toBytes(content)), storedAt: world.ingest.time - ageMs };
  world.bucket.lay(key, content, recorded);
}

/** Stores a pinned backup of long ago, and gives the key of its one object. */
function storeOld(number: number): string {
  const id = oldId(number);
  const { state, object, text } = aBackup(id);
  const key = backupObjectKey(sha256Hex(object));
  store(key, object, 90 * DAY_MS);
  store(backupPartKey(id, state.part.name), state.bytes, 90 * DAY_MS);
  store(backupNoteKey(id, "pin"), "{}", 90 * DAY_MS);
  store(backupManifestKey(id), text, 90 * DAY_MS);
  return key;
}

/** Lets something happen the `nth` time that retention lists the backups. */
function atList(nth: number, happen: () => void): void {
  let lists = 0;
  world.before = (call) => {
    if (world.stage === "retention" && call.startsWith("list ") && ++lists === nth) happen();
  };
}

function objects(): string[] {
  return [...world.bucket.files.keys()]
    .filter((key) => key.startsWith(BACKUP_OBJECTS_PREFIX))
    .map((key) => key.slice(BACKUP_OBJECTS_PREFIX.length));
}

describe("retention", () => {
  it("keeps unnamed files for a day, because somebody may be copying their backup into the bucket", async () => {
    store(backupObjectKey(sha256Hex("copied in")), "copied in", 23 * HOUR_MS);
    store(backupObjectKey(sha256Hex("forgotten")), "forgotten", 25 * HOUR_MS);
    const part = aBackup(oldId(1)).state;
    store(backupPartKey(oldId(1), part.part.name), part.bytes, 23 * HOUR_MS);
    store(backupPartKey(oldId(2), part.part.name), part.bytes, 25 * HOUR_MS);
    await world.backUp();
    expect(objects()).toContain(sha256Hex("copied in"));
    expect(objects()).not.toContain(sha256Hex("forgotten"));
    expect(await listIds(world.store)).toContain(oldId(1));
    expect(await listIds(world.store)).not.toContain(oldId(2));
  });

  it("deletes no object for a day after a manifest was damaged, nor beside a backup of a newer Worker", async () => {
    const object = storeOld(1);
    const day = world.ingest.time;
    store(backupManifestKey(oldId(1)), "{", 0);
    world.ingest.time = day + 23 * HOUR_MS;
    await world.backUp();
    expect(world.bucket.files.has(object)).toBe(true);
    expect(world.events.map(({ event }) => event)).toContain("backup_objects_kept");
    world.ingest.time = day + 25 * HOUR_MS;
    const newer = storeOld(2);
    const { text } = aBackup(oldId(2));
    store(backupManifestKey(oldId(2)), text.replace('"format":1', '"format":2'), 90 * DAY_MS);
    expect(await world.backUp()).toMatchObject({ state: "succeeded", kept_for: [oldId(2)] });
    expect(world.bucket.files.has(object)).toBe(true);
    await world.store.deleteBackup(oldId(2));
    expect(await world.backUp()).toMatchObject({ kept_for: [] });
    expect(world.bucket.files.has(object)).toBe(false);
    expect(world.bucket.files.has(newer)).toBe(false);
  });

  it("keeps the objects of every backup if others are deleted while it reads", async () => {
    const kept = Array.from({ length: 60 }, (_, number) => storeOld(number));
    store(backupObjectKey(sha256Hex("forgotten")), "forgotten", 25 * HOUR_MS);
    atList(2, () => {
      for (const key of world.bucket.files.keys())
        if (key.includes(oldId(0)) || key.includes(oldId(1))) world.bucket.files.delete(key);
    });
    await world.backUp();
    expect(await listIds(world.store)).toHaveLength(59);
    expect(kept.slice(2).filter((key) => !world.bucket.files.has(key))).toEqual([]);
    expect(objects()).not.toContain(sha256Hex("forgotten"));
  });

  it("deletes no object if a backup has arrived since it listed them", async () => {
    storeOld(5);
    let object = "";
    atList(2, () => void (object = storeOld(3)));
    await world.backUp();
    expect(world.bucket.files.has(object)).toBe(true);
  });

  it("keeps a pinned backup until it is unpinned", async () => {
    const { backup_id } = await world.backUp({ trigger: "cron", pin: true });
    world.ingest.time += HOUR_MS;
    await world.backUp({ trigger: "cron" });
    expect(await listIds(world.store)).toContain(backup_id);
    await world.store.deleteNote(backup_id, "pin");
    world.ingest.time += HOUR_MS;
    await world.backUp({ trigger: "cron" });
    expect(await listIds(world.store)).not.toContain(backup_id);
  });
});
