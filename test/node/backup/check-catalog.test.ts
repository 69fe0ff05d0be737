import { expect, it } from "vitest";
import { packPart } from "../../../src/backup/ndjson.ts";
import { sumParts } from "../../../src/backup/format.ts";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { Body } from "../../../src/catalog/manifest.ts";
import { storedManifest } from "../../../src/catalog/stored-manifest.ts";
import { backupManifestKey, backupObjectKey, backupPartKey } from "../../../src/storage/keys.ts";
import { BackupWorld, BY_OPS } from "../../builders/backup-world.ts";
import { aLocaleEntry, aManifest, inEveryForm } from "../../builders/manifest.ts";
import { aBackup } from "../../builders/stored-backup.ts";

const ID = "019aa3c0-0000-7000-8000-000000000001";
const SHARED = ["a first piece that all have, ", "a second, "];

function bodyOf(pieces: readonly string[]): Body {
  return {
    sha256: sha256Hex(...pieces),
    bytes: pieces.join("").length,
    segments: pieces.map((piece) => ({ blob: sha256Hex(piece), bytes: piece.length })),
  };
}

it("proves a catalog by reading each of the pieces that its locales share once", async () => {
  const world = new BackupWorld();
  const own = ["and what only German has", "and English", "and French"];
  const entries = own.map((text) => {
    const body = bodyOf([...SHARED, text]);
    const each = { identity: body, gzip: body, br: body };
    const bodies = inEveryForm(each);
    return aLocaleEntry({ bodies });
  });
  const locales = Object.fromEntries(entries.map((entry, index) => [`x${index}`, entry]));
  const hashes = Object.entries(locales).map(([locale, { sha256 }]) => `${locale} ${sha256}\n`);
  const catalog = { generation: 1, catalog_sha256: sha256Hex(...hashes) };
  const version = aManifest({ ...catalog, locales, sources: {} });
  const lines = ['{"pause":null}', JSON.stringify({ version: storedManifest(version) })];
  const { part, bytes } = packPart(null, 1, lines);
  const store = (key: string, content: Uint8Array) =>
    world.store.files.set(key, { bytes: content, sha256: sha256Hex(content), storedAt: 0 });
  const pieces = [...SHARED, ...own].map((text) => new TextEncoder().encode(text));
  for (const piece of pieces) store(backupObjectKey(sha256Hex(piece)), piece);
  store(backupPartKey(ID, part.name), bytes);
  const { text } = aBackup(ID, {
    catalog,
    parts: [part],
    state: sumParts([part], null),
    objects: pieces.map((piece) => ({ sha256: sha256Hex(piece), bytes: piece.length })),
  });
  store(backupManifestKey(ID), new TextEncoder().encode(text));

  const read: string[] = [];
  world.before = (call) => {
    if (world.ingest.coordinator.jobs(1)[0]?.stage === "check_catalog") read.push(call);
  };
  await world.jobs.verify(ID, BY_OPS);
  await world.drain(() => world.ingest.coordinator.jobs(1)[0]?.stage === "rebuild");
  const keys = pieces.map((piece) => `get ${backupObjectKey(sha256Hex(piece))}`);
  expect(read.filter((call) => keys.includes(call)).toSorted()).toEqual(keys.toSorted());
});
