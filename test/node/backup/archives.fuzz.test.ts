import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type BackupManifest,
  manifestText,
  packPart,
  tableOf,
} from "../../../src/backup/format.ts";
import { backupManifestKey, backupPartKey } from "../../../src/storage/keys.ts";
import { BackupWorld, byOps } from "../../builders/backup-world.ts";
import { fuzzed, UNHURRIED } from "../../builders/fuzzed.ts";
import { damagedManifest, damagedValue } from "../../builders/manifest-mutations.ts";
import { mutatedBytes } from "../../builders/mutations.ts";

const whole = new BackupWorld();
let id: string;
let manifest: BackupManifest;
/** Files of the backup, and what an undamaged restore brings back. */
let keys: readonly string[];
let expected: Awaited<ReturnType<typeof contentsOf>>;

beforeAll(async () => {
  await whole.ingest.publishVersions(2);
  await whole.ingest.enqueue({ mode: "dry_run" });
  await whole.drain();
  await whole.ingest.coordinator.pause({ by: "ops", note: "holidays", until: null }, false);
  await whole.ingest.enqueue({ note: "waits" });
  ({ backup_id: id } = await whole.backUp());
  const { sha256: _, ...fields } = JSON.parse(textOf(backupManifestKey(id)));
  manifest = fields;
  keys = [...whole.bucket.files.keys()].filter((key) => !key.endsWith("verdict.json"));
  const world = installation();
  await world.restore(id);
  expected = await contentsOf(world);
});

/** An installation with a copy of the backup. */
function installation(): BackupWorld {
  const world = new BackupWorld();
  world.ingest.time = whole.ingest.time + 3_600_000;
  for (const [key, bytes] of whole.bucket.files)
    world.bucket.lay(key, bytes, whole.bucket.recorded.get(key));
  return world;
}

async function contentsOf(world: BackupWorld) {
  const { history, served } = await world.everything();
  return { history, served: served?.catalog_sha256 };
}

function textOf(key: string): string {
  return Buffer.from(whole.bucket.files.get(key) ?? []).toString();
}

/** Files of a backup with bytes changed that its hashes no longer fit, or a manifest that was sealed again. */
const damages = () =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .constantFrom(...keys)
        .chain((key) =>
          mutatedBytes(whole.bucket.files.get(key) ?? new Uint8Array()).map(
            (bytes): [string, Uint8Array] => [key, bytes],
          ),
        ),
    },
    damagedValue(manifest)
      .filter((value) => value !== undefined)
      .map((value): [string, Uint8Array] => [
        backupManifestKey(id),
        Buffer.from(manifestText(value as BackupManifest)), // whatever it is
      ]),
  );

describe("restoring a damaged backup", UNHURRIED, () => {
  it("restores exactly what was saved, or changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(damages(), async ([key, bytes]) => {
        const world = installation();
        const before = await contentsOf(world);
        world.bucket.damage(key, () => bytes);
        const result = await world.jobs.restore(id, byOps());
        if (!result.ok) return;
        await world.drain();
        const job = world.job(result.job.id);
        expect(await contentsOf(world)).toEqual(job.state === "succeeded" ? expected : before);
        expect(job.error?.code).not.toBe("store_fault");
      }),
      fuzzed(25),
    );
  });
});

/** A backup whose rows are others than were saved, while all its hashes are right. */
const forgeries = () =>
  fc.constantFrom(...manifest.parts).chain((part) => {
    const lines = gunzipSync(whole.bucket.files.get(backupPartKey(id, part.name)) ?? "")
      .toString()
      .trimEnd()
      .split("\n");
    return fc
      .nat(lines.length - 1)
      .chain((at) =>
        forgedLine(lines[at] ?? "").map((line) => ({ part, lines: lines.with(at, line) })),
      );
  });

/** A line with values changed, also within the JSON that one of its columns holds. */
function forgedLine(line: string): fc.Arbitrary<string> {
  const row = JSON.parse(line);
  const nested = Object.keys(row).filter(
    (name) => typeof row[name] === "string" && /^[[{]/.test(row[name]),
  );
  const inside = nested.map((name) =>
    damagedManifest(JSON.parse(row[name])).map((text) => JSON.stringify({ ...row, [name]: text })),
  );
  return fc.oneof(
    damagedManifest(row).map((text) => text.replaceAll("\n", " ")),
    ...inside,
  );
}

describe("restoring a forged backup", UNHURRIED, () => {
  it("leaves an installation that answers, ingests and can undo the restore", async () => {
    await fc.assert(
      fc.asyncProperty(forgeries(), async ({ part, lines }) => {
        const world = installation();
        await world.ingest.publishVersions(1);
        const number = Number(/\.(\d{6})\./.exec(part.name)?.[1]);
        const forged = packPart(tableOf(part), number, lines);
        const parts = manifest.parts.map((each) => (each.name === part.name ? forged.part : each));
        world.bucket.damage(backupPartKey(id, part.name), () => forged.bytes);
        world.bucket.damage(backupManifestKey(id), () =>
          Buffer.from(manifestText({ ...manifest, parts })),
        );
        const job = await world.restore(id);
        expect(world.ingest.coordinator.status()).toMatchObject({ replicated: true });
        await world.ingest.coordinator.resume();
        await world.drain();
        world.ingest.renameAirport("afterwards");
        expect(await world.ingest.runToEnd()).toMatchObject({ state: "succeeded" });
        if (job.state !== "succeeded") return;
        expect(await world.restore(job.chain[0] ?? "")).toMatchObject({ state: "succeeded" });
      }),
      fuzzed(8),
    );
  });
});
