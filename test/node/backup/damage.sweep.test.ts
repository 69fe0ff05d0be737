import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { LocaleEntry, LocaleParts } from "../../../src/parts/manifest.ts";
import {
  type BackupManifest,
  manifestText,
  packPart,
  PART_CONTENT_MAX_BYTES,
  partName,
  tableOf,
} from "../../../src/backup/format.ts";
import { readStateLines, stateLines } from "../../../src/backup/state-part.ts";
import { parseVerdict } from "../../../src/backup/verdict.ts";
import { backupManifestKey, backupObjectKey, backupPartKey } from "../../../src/storage/keys.ts";
import { BackupWorld } from "../../builders/backup-world.ts";
import { startEachFrom } from "../../builders/coordinator-world.ts";
import { toFormer } from "../../builders/former-manifest.ts";
import { flipBit } from "../../builders/memory-bucket.ts";

const world = new BackupWorld();
let id: string;
/** A blob that the backup names. */
let blob: string;

startEachFrom(world, async () => {
  await world.ingest.publishVersions(2);
  await world.drain();
  ({ backup_id: id } = await world.backUp());
  blob = world.blobs()[0] ?? "";
});

const runsPart = () => backupPartKey(id, partName("ingest_runs", 1));
const anObject = () => backupObjectKey(blob);

function change(edit: (manifest: BackupManifest) => object): void {
  world.bucket.damage(backupManifestKey(id), (bytes) => {
    const { sha256: _, ...manifest } = JSON.parse(new TextDecoder().decode(bytes));
    return utf8(manifestText(edit(manifest) as BackupManifest)); // whatever it makes of it
  });
}

/** Stores other bytes as the runs, under their right hash. */
function replaceRuns(bytes: Uint8Array): void {
  world.bucket.damage(runsPart(), () => bytes);
  change(({ parts, ...manifest }) => ({
    ...manifest,
    parts: parts.map((part) =>
      tableOf(part) === "ingest_runs" ? { ...part, sha256: sha256Hex(bytes) } : part,
    ),
  }));
}

/** Replaces the lines of the coordinator's state, under right hashes. */
function changeState(edit: (lines: readonly string[]) => readonly string[]): void {
  const key = backupPartKey(id, partName(null, 1));
  const text = gunzipSync(world.bucket.files.get(key) ?? "").toString();
  const { part, bytes } = packPart(null, 1, edit(text.trimEnd().split("\n")));
  world.bucket.damage(key, () => bytes);
  change((manifest) => {
    const parts = manifest.parts.map((each) => (tableOf(each) === null ? part : each));
    return { ...manifest, parts };
  });
}

/** Gives the newest version's German what `edit` makes of it and of English. */
function changeGerman(edit: (de: LocaleEntry, en: LocaleEntry) => LocaleEntry): void {
  changeState((lines) => {
    const read = readStateLines(lines);
    if (!read.ok) throw new Error(read.fault.message);
    const [newest, ...others] = read.state.versions;
    const { de, en } = newest?.locales ?? {};
    if (newest === undefined || de === undefined || en === undefined)
      throw new Error("de and en are not published");
    const locales = { ...newest.locales, de: edit(de, en) };
    return stateLines({ ...read.state, versions: [{ ...newest, locales }, ...others] });
  });
}

/** Gives the newest version's German another part in protobuf. */
function changeGermanPart(changes: (part: LocaleParts) => Partial<LocaleParts>): void {
  changeGerman(({ parts, ...de }) => {
    const proto = { ...parts.proto, ...changes(parts.proto) };
    return { ...de, parts: { ...parts, proto } };
  });
}

/** What the last verification has found out. */
const noted = async () => parseVerdict(await world.store.readNote(id, "verdict"));

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Ways to lose a backup, and the reason that each is refused for. */
const DAMAGES: readonly (readonly [name: string, reason: string, damage: () => void])[] = [
  ["one flipped bit in a part", "part_damaged", () => world.bucket.damage(runsPart(), flipBit)],
  [
    "a truncated part",
    "part_damaged",
    () => world.bucket.damage(runsPart(), (bytes) => bytes.slice(0, -9)),
  ],
  [
    "a part that decodes to more than a part takes, under its right hash",
    "part_damaged",
    () => replaceRuns(gzipSync(Buffer.alloc(PART_CONTENT_MAX_BYTES + 1, "\n"))),
  ],
  ["a part that is no gzip, under its right hash", "part_damaged", () => replaceRuns(utf8("{}"))],
  ["a missing part", "part_damaged", () => void world.bucket.files.delete(runsPart())],
  [
    "one altered row",
    "part_damaged",
    () =>
      world.bucket.damage(runsPart(), (bytes) =>
        gzipSync(gunzipSync(bytes).toString().replace("published", "unchanged")),
      ),
  ],
  [
    "one flipped bit in an object",
    "object_damaged",
    () => {
      world.loseBlob(blob);
      world.bucket.damage(anObject(), flipBit);
    },
  ],
  [
    "a missing object",
    "object_missing",
    () => {
      world.loseBlob(blob);
      world.bucket.files.delete(anObject());
    },
  ],
  [
    "an object that it does not name",
    "catalog_mismatch",
    () =>
      change((manifest) => ({
        ...manifest,
        objects: manifest.objects.filter(({ sha256 }) => sha256 !== blob),
      })),
  ],
  [
    "another catalog than its state has",
    "catalog_mismatch",
    () =>
      change((manifest) => ({
        ...manifest,
        catalog: { generation: 2, catalog_sha256: sha256Hex("another") },
      })),
  ],
  [
    "a message that is made of another's blobs",
    "catalog_mismatch",
    () =>
      changeGerman((de, en) => {
        const { digests, crc32 } = de.parts.proto;
        return { ...de, parts: { ...de.parts, proto: { ...en.parts.proto, digests, crc32 } } };
      }),
  ],
  [
    "messages that do not make up its catalog",
    "catalog_mismatch",
    () => changeGerman((_, en) => en),
  ],
  [
    "a future format",
    "future_format",
    () => change((manifest) => ({ ...manifest, format: 2, more: "than is known here" })),
  ],
  [
    "a truncated manifest",
    "manifest_damaged",
    () => world.bucket.damage(backupManifestKey(id), (bytes) => bytes.slice(0, 300)),
  ],
  [
    "an altered manifest",
    "manifest_damaged",
    () =>
      world.bucket.damage(backupManifestKey(id), (bytes) =>
        utf8(new TextDecoder().decode(bytes).replace('"rows":2', '"rows":3')),
      ),
  ],
  [
    "a manifest of another backup",
    "manifest_damaged",
    () => change((manifest) => ({ ...manifest, id: id.replace(/.$/, "9") })),
  ],
  [
    "a manifest with a part outside its folder",
    "manifest_damaged",
    () => change((manifest) => ({ ...manifest, parts: [{ ...manifest.parts[0], name: "../x" }] })),
  ],
  [
    "a state that is none, under right hashes",
    "state_invalid",
    () => changeState(() => ['{"pause":null}', '{"version":{"format":6}}']),
  ],
  [
    "a blob that does not inflate as the state says, under right hashes",
    "catalog_mismatch",
    () => changeGermanPart(({ bytes }) => ({ bytes: bytes + 1 })),
  ],
  [
    "another hash of a message in gzip",
    "catalog_mismatch",
    () =>
      changeGermanPart(({ digests }) => ({ digests: { ...digests, gzip: sha256Hex("another") } })),
  ],
  [
    "another checksum of a message",
    "catalog_mismatch",
    () => changeGermanPart(({ crc32 }) => ({ crc32: { ...crc32, message: 5 } })),
  ],
  [
    "another checksum of a message in its frame",
    "catalog_mismatch",
    () => changeGermanPart(({ crc32 }) => ({ crc32: { ...crc32, framed: 5 } })),
  ],
  [
    "a generation above which no other could follow",
    "state_invalid",
    () =>
      changeState((lines) =>
        lines.map((line) => line.replace(/"generation":\d+/, '"generation":500000001')),
      ),
  ],
  [
    "a column that there is not",
    "schema_mismatch",
    () => world.d1.database.exec("ALTER TABLE alert_runs RENAME COLUMN id TO other"),
  ],
];

describe("verifying and restoring a damaged backup", () => {
  it.each(DAMAGES)("refuses %s as %s and changes nothing", async (_, reason, damage) => {
    await world.ingest.publishVersions(1);
    await world.drain();
    damage();
    const before = await world.everything();
    // Another schema here is no fault of the backup.
    const verdict = reason === "schema_mismatch" ? "verified" : "failed";
    expect(await world.verify(id)).toMatchObject({ verdict });
    expect(await noted()).toMatchObject({ state: verdict });
    const job = await world.restore(id);
    expect(job).toMatchObject({ state: "failed", error: { code: reason }, generation: null });
    expect(await world.everything()).toEqual(before);
    expect(world.ingest.coordinator.status()).toMatchObject({ replicated: true });
    world.ingest.renameAirport("afterwards");
    expect(await world.ingest.runToEnd()).toMatchObject({ state: "succeeded" });
  });
});

it("a backup of an earlier release is refused by name and stays as good as it was", async () => {
  changeState((lines) => lines.map((line) => line.replace('"format":6', '"format":4')));
  const verdict = await world.store.readNote(id, "verdict");
  const error = { code: "former_format", message: expect.stringContaining("worker_version") };
  expect(await world.verify(id)).toMatchObject({ state: "failed", error });
  expect(await world.restore(id)).toMatchObject({ state: "failed", generation: null, error });
  expect(await world.store.readNote(id, "verdict")).toEqual(verdict);
});

it("a backup with manifests of format 5 is restored", async () => {
  // No earlier release has stored the names of a locale.
  const locales = Object.entries(world.ingest.current()?.locales ?? {}).map(
    ([locale, { coverage, parts }]) => [locale, { coverage, parts }],
  );
  changeState(([first = "", ...versions]) => [
    first,
    ...versions.map((line) => JSON.stringify({ version: toFormer(JSON.parse(line).version) })),
  ]);
  expect(await world.restore(id)).toMatchObject({ state: "succeeded", error: null });
  expect(world.ingest.current()?.locales).toEqual(Object.fromEntries(locales));
});

describe("an object of a backup", () => {
  it("comes back with the backup made before a restore if a store still has it", async () => {
    world.bucket.damage(anObject(), flipBit);
    expect(await world.verify(id)).toMatchObject({ error: { code: "object_damaged" } });
    expect(await world.restore(id)).toMatchObject({ state: "succeeded", verdict: "verified" });
  });

  it.each([
    ["is damaged", () => world.bucket.damage(anObject(), flipBit)],
    ["has gone", () => void world.bucket.files.delete(anObject())],
  ])("stays out of a restore if it %s after its verification", async (_, damage) => {
    const before = await world.ingest.served();
    world.before = () => {
      if (world.stage !== "restore_objects") return;
      world.before = () => {};
      damage();
    };
    const job = await world.restore(id);
    expect(job.error?.message).toContain("has changed since its verification");
    expect(await world.ingest.served()).toEqual(before);
    expect(job).toMatchObject({ state: "failed", generation: null });
  });
});

it("an earlier verdict `intact` counts as verified", async () => {
  const text = JSON.stringify({ ...(await noted()), state: "intact" });
  await world.store.writeNote(id, "verdict", text);
  expect(await noted()).toMatchObject({ state: "verified" });
});
