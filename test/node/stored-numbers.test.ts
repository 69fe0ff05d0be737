/**
 * What a reader accepts of a stored number, the coordinator can store, increase and publish above.
 * The sweep `storage/set-aside.sweep.test.ts` has each number of the Durable Objects.
 */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parseManifest } from "../../src/backup/format.ts";
import { readStateLines, stateLines } from "../../src/backup/state-part.ts";
import { sha256Hex } from "../../src/catalog/bytes.ts";
import { readLedger } from "../../src/ingest/ledger-files.ts";
import { type Manifest, MANIFEST_FORMAT } from "../../src/parts/manifest.ts";
import { manifestSchema } from "../../src/parts/manifest-schema.ts";
import { openManifest, serializeManifest } from "../../src/parts/stored-manifest.ts";
import { CachedCatalogReader } from "../../src/storage/cached-catalog-reader.ts";
import { generationKey, MANIFEST_KEY } from "../../src/storage/keys.ts";
import { BackupWorld } from "../builders/backup-world.ts";
import { startEachFrom, CoordinatorWorld } from "../builders/coordinator-world.ts";
import { manifestBytes } from "../builders/memory-catalog-store.ts";
import { aHeldChange } from "../builders/held-change.ts";
import { aDiff, aLocaleEntry, aManifest } from "../builders/manifest.ts";
import { ReaderWorld } from "../builders/reader-world.ts";
import { aBackup } from "../builders/stored-backup.ts";
import { type NumberRange, numberPaths, valuesOf, withNumber } from "../builders/stored-numbers.ts";

/** No installation publishes so many versions, and so few that others do not fit above. */
const ADOPTED_MAX = 500_000_000;
const PUBLISHED_MAX = 600_000_000;
const GENERATION_MAX = 900_000_000;
const COUNT = { least: 0, most: 2 ** 53 - 1 };
const BYTES = { least: 0, most: 99_999_999 };
const CRC32 = { least: 0, most: 2 ** 32 - 1 };

/** The range of each number of a manifest, by its name. */
const RANGES: { readonly [name: string]: NumberRange } = {
  format: { least: MANIFEST_FORMAT, most: MANIFEST_FORMAT },
  generation: { least: 1, most: GENERATION_MAX },
  previous: { least: 1, most: GENERATION_MAX },
  airports: COUNT,
  cities: COUNT,
  countries: COUNT,
  regions: COUNT,
  bytes: BYTES,
  message: CRC32,
  framed: CRC32,
  coverage: { least: 0, most: 1, isFraction: true },
};

const manifest = aManifest({
  generation: 2,
  previous: 1,
  diffs: [aDiff()],
  locales: {
    en: aLocaleEntry({ names: { sha256: "a".repeat(64), bytes: 5 } }),
    de: aLocaleEntry(),
  },
});

/** A stored manifest with another number, written in any way. */
function storedWith(path: readonly string[], text: string): Uint8Array<ArrayBuffer> {
  const json = withNumber(manifest, path, text);
  return Uint8Array.from(Buffer.from(`${json}\n${sha256Hex(json)}`));
}

describe("a number of a manifest", () => {
  const rows = numberPaths(manifest)
    .filter(([name]) => name !== "format")
    .flatMap((path) =>
      valuesOf(RANGES[path.at(-1) ?? ""] ?? COUNT).map(
        ([text, isRight]) =>
          [
            path.join("."),
            text,
            // The first version has none before it.
            isRight || (path.at(-1) === "previous" && text === "null"),
          ] as const,
      ),
    );

  it("has a row for each", () => {
    const names = ["format", ...rows.map(([path]) => path.split(".").at(-1))];
    expect(new Set(names)).toEqual(new Set(Object.keys(RANGES)));
    expect(rows.length).toBeGreaterThan(300);
  });

  it.each(rows)("%s of %s is read as it can be stored: %s", async (path, text, isRight) => {
    const names = path.split(".");
    expect((await openManifest(storedWith(names, text))).ok).toBe(isRight);
    const stored = JSON.parse(withNumber(manifest, names, text));
    expect(manifestSchema.safeParse(stored).success).toBe(isRight);
  });
});

/** Generations that a manifest in a store may have, with a correct checksum. */
const GENERATIONS = [
  "1",
  "2",
  "3",
  "400000000",
  String(ADOPTED_MAX),
  String(ADOPTED_MAX + 1),
  String(PUBLISHED_MAX),
  String(PUBLISHED_MAX + 1),
  String(GENERATION_MAX),
  String(GENERATION_MAX + 1),
  "999999999",
  "9007199254740991",
  "9007199254740993",
  "1e400",
  "0",
  "-1",
  "1.5",
  "null",
];

/** The text of a version with another generation, published at another time. */
function withGeneration(version: Manifest, text: string): Uint8Array<ArrayBuffer> {
  const stored = serializeManifest({ ...version, published_at: "2026-10-01T00:00:00.000Z" });
  const json = stored
    .slice(0, stored.lastIndexOf("\n"))
    .replace(`"generation":${version.generation}`, `"generation":${text}`);
  return Uint8Array.from(Buffer.from(`${json}\n${sha256Hex(json)}`));
}

describe("a manifest in a store with a generation that this installation has not published", () => {
  const world = new CoordinatorWorld();
  startEachFrom(world, () => world.publishVersions(3));

  const current = (): Manifest => {
    const version = world.current();
    if (version === null) throw new Error("the coordinator has lost its versions");
    return version;
  };

  /** An isolate over the same stores, which has read what they show. */
  async function anIsolate() {
    const others = new ReaderWorld();
    const reader = new CachedCatalogReader({ ...others.deps, store: world.store });
    const look = async () => {
      others.time += 60_000;
      const found = await reader.current();
      await others.settle();
      return found.ok ? found.manifest : null;
    };
    await look();
    return look;
  }

  async function pass(): Promise<void> {
    world.time += 300_000;
    await world.coordinator.reconcile();
    await world.drain();
  }

  const rows = GENERATIONS.flatMap((text) => [["kv", text] as const, ["r2", text] as const]);

  it.each(rows)(
    "%s shows %s: the versions stay, and both stores and isolates agree",
    async (replica, text) => {
      const before = current();
      world.store[replica].set(MANIFEST_KEY, withGeneration(before, text));
      const look = await anIsolate();
      expect(await look()).not.toBeNull();
      await pass();
      const versions = world.coordinator.versions().map(({ generation }) => generation);
      expect(versions).toEqual(expect.arrayContaining([3, 2, 1]));
      expect(current()).toMatchObject({ catalog_sha256: before.catalog_sha256 });
      for (const store of ["kv", "r2"] as const)
        expect(await world.store.readManifest(store)).toEqual({ ok: true, value: current() });
      expect(await look()).toEqual(current());
      // Behind what was published, the next version fits as well.
      await world.publishVersions(1);
      world.crash();
      await pass();
      expect(world.coordinator.setAside()).toEqual([]);
      expect(current().generation).toBeGreaterThan(before.generation);
      expect(await world.served()).toEqual(current());
      expect(await look()).toEqual(current());
    },
  );

  it.each(rows)(
    "%s shows %s: a coordinator that has lost its tables goes on",
    async (replica, text) => {
      const before = current();
      world.store[replica].set(MANIFEST_KEY, withGeneration(before, text));
      world.loseTables();
      const taken = await world.coordinator.takeOver("ops");
      expect(taken).toMatchObject({ ok: true, version: { catalog_sha256: before.catalog_sha256 } });
      await world.coordinator.resume();
      world.renameAirport("Kloten");
      expect(await world.runToEnd()).toMatchObject({ outcome: "published" });
      world.crash();
      expect(world.coordinator.setAside()).toEqual([]);
      expect(await world.served()).toEqual(current());
    },
  );

  it.each(GENERATIONS)(
    "%s is the name of a manifest in R2: the next version is numbered as others",
    async (text) => {
      world.store.r2.set(`catalog/manifests/${text}`, withGeneration(current(), text));
      for (const generation of await world.store.listGenerations())
        expect([generation >= 1, generation <= GENERATION_MAX]).toEqual([true, true]);
      world.loseTables();
      await world.coordinator.takeOver("ops");
      await world.coordinator.resume();
      await world.publishVersions(1);
      world.crash();
      expect(world.coordinator.setAside()).toEqual([]);
      expect(await world.served()).toEqual(current());
    },
  );

  it("has a date that nobody can record: isolates that have read it follow", async () => {
    const version = { ...current(), generation: 7, published_at: "yesterday" };
    world.store.kv.set(MANIFEST_KEY, manifestBytes(version));
    const look = await anIsolate();
    world.loseTables();
    await world.coordinator.takeOver("ops");
    expect(current()).toMatchObject({ generation: 8 });
    expect(await look()).toEqual(current());
  });

  it.each(["0", "-1", "1.5", "7.5", "1000", "9007199254740991", "1e400", "NaN", ""])(
    "is of the format %s by its metadata: no newer Worker has written it",
    async (format) => {
      const { bucket } = world.store;
      const owner = bucket.recorded.get(MANIFEST_KEY)?.customMetadata?.["owner"] ?? "";
      bucket.recorded.set(MANIFEST_KEY, { customMetadata: { owner, format } });
      await world.publishVersions(1);
      expect(await world.served()).toMatchObject({ generation: 4 });
    },
  );
});

describe("an installation that has published above the highest generation that it adopts", () => {
  const AT_LIMIT = [ADOPTED_MAX - 2, ADOPTED_MAX - 1, ADOPTED_MAX];

  async function published(unknown: number): Promise<BackupWorld> {
    const world = new BackupWorld(undefined, ["en"]);
    const { ingest } = world;
    await ingest.publishVersions(3);
    const shown = ingest.current();
    if (shown === null) throw new Error("nothing is published");
    ingest.store.kv.set(MANIFEST_KEY, withGeneration(shown, String(unknown)));
    ingest.time += 300_000;
    await ingest.coordinator.reconcile();
    await ingest.drain();
    await ingest.publishVersions(1);
    expect(ingest.current()).toMatchObject({ generation: unknown + 2 });
    return world;
  }

  it.each(AT_LIMIT)("above %i: can be backed up and restored, twice", async (unknown) => {
    const world = await published(unknown);
    for (const generation of [unknown + 3, unknown + 4]) {
      const { backup_id, verdict } = await world.backUp();
      expect(verdict).toBe("verified");
      const job = await world.restore(backup_id);
      expect(job).toMatchObject({ state: "succeeded", generation });
      expect(await world.ingest.served()).toMatchObject({ generation });
    }
  });

  it.each(AT_LIMIT)(
    "above %i: can lose its tables and take the stores over, twice",
    async (unknown) => {
      const { ingest } = await published(unknown);
      const catalog_sha256 = ingest.current()?.catalog_sha256;
      for (const generation of [unknown + 3, unknown + 4]) {
        ingest.loseTables();
        const version = { generation, catalog_sha256 };
        expect(await ingest.coordinator.takeOver("ops")).toMatchObject({ ok: true, version });
        expect(await ingest.served()).toMatchObject(version);
      }
    },
  );

  it.each(AT_LIMIT)("above %i: can roll back, twice", async (unknown) => {
    const { ingest } = await published(unknown);
    for (const generation of [unknown + 3, unknown + 4]) {
      const former = ingest.coordinator.versions().at(1)?.generation ?? 0;
      const result = await ingest.coordinator.rollback(generation === unknown + 3 ? 2 : former);
      expect(result).toMatchObject({ ok: true, version: { generation } });
    }
  });
});

describe("a number of a backup", () => {
  const ID = "0199aa3c-0000-7000-8000-00000000000f";
  const ranges: { readonly [name: string]: NumberRange } = {
    format: { least: 1, most: 1 },
    generation: { least: 1, most: GENERATION_MAX },
    rows: COUNT,
    bytes: BYTES,
  };
  const { sha256: _, ...fields }: { sha256: string } = JSON.parse(
    aBackup(ID, {
      catalog: { generation: 2, catalog_sha256: "a".repeat(64) },
      tables: { ingest_runs: { columns: ["id"], rows: 1 } },
    }).text,
  );
  const rows = numberPaths(fields).flatMap((path) =>
    valuesOf(ranges[path.at(-1) ?? ""] ?? COUNT).map(
      ([text, isRight]) => [path.join("."), text, isRight] as const,
    ),
  );

  it.each(rows)("%s of %s is accepted in manifest.json: %s", (path, text, isRight) => {
    const changed = withNumber(fields, path.split("."), text);
    const stored = {
      ...JSON.parse(changed),
      sha256: sha256Hex(JSON.stringify(JSON.parse(changed))),
    };
    const parsed = parseManifest(JSON.stringify(stored), ID);
    const isLater = path === "format" && text === "2";
    const code = isLater ? "future_format" : "manifest_damaged";
    expect(parsed).toMatchObject(isRight ? { ok: true } : { ok: false, fault: { code } });
  });

  const held_changes = { waiting: 1, oldest_since: null, next_due_at: null };
  const ledger = { accepted: "a".repeat(64), held: "b".repeat(64), held_changes };
  const [first = "", line = ""] = stateLines({ pause: null, ledger, versions: [manifest] });
  const inState = [
    ...numberPaths(JSON.parse(first)).map((path) => ["0", ...path]),
    ["1", "version", "generation"],
    ["1", "version", "previous"],
    ["1", "version", "counts", "airports"],
    ["1", "version", "locales", "en", "parts", "json", "bytes"],
  ].flatMap((path) => {
    const name = path.at(-1) ?? "";
    const range = { ...RANGES, ...ranges, bytes: BYTES }[name] ?? COUNT;
    return valuesOf(range).map(
      ([text, isRight]) =>
        [path.join("."), text, isRight || (name === "previous" && text === "null")] as const,
    );
  });

  it.each(inState)("%s of %s is accepted in the state: %s", (path, text, isRight) => {
    const [at, ...names] = path.split(".");
    const lines = [first, line].map((stored, index) =>
      String(index) === at ? withNumber(JSON.parse(stored), names, text) : stored,
    );
    expect(readStateLines(lines).ok).toBe(isRight);
  });

  it.each([1, 400_000_000, ADOPTED_MAX, ADOPTED_MAX + 1, PUBLISHED_MAX])(
    "can be the generation %i, above which a restore publishes, and others after it",
    async (generation) => {
      const made = new BackupWorld(undefined, ["en"]);
      if (generation > 1) made.ingest.store.r2.set(generationKey(generation - 1), Uint8Array.of(0));
      await made.ingest.publishVersions(1);
      expect(made.ingest.current()).toMatchObject({ generation });
      const { backup_id, verdict } = await made.backUp();
      expect(verdict).toBe("verified");
      const world = new BackupWorld(made, ["en"]);
      const job = await world.restore(backup_id);
      expect(job).toMatchObject({ state: "succeeded", generation: generation + 1 });
      await world.ingest.coordinator.resume();
      await world.ingest.publishVersions(1);
      world.crash();
      expect(world.ingest.coordinator.setAside()).toEqual([]);
      expect(await world.ingest.served()).toMatchObject({ generation: generation + 2 });
    },
  );
});

describe("a restore while a store shows a generation that nobody has published", () => {
  it.each(
    [ADOPTED_MAX + 1, GENERATION_MAX].flatMap((generation) => [
      ["kv", generation] as const,
      ["r2", generation] as const,
    ]),
  )(
    "%s shows %i: publishes above its own, and both stores show that",
    async (replica, generation) => {
      const world = new BackupWorld(undefined, ["en"]);
      await world.ingest.publishVersions(2);
      const { backup_id } = await world.backUp();
      const shown = world.ingest.current();
      if (shown === null) throw new Error("nothing is published");
      world.ingest.store[replica].set(MANIFEST_KEY, withGeneration(shown, String(generation)));
      expect(await world.restore(backup_id)).toMatchObject({ state: "succeeded", generation: 3 });
      for (const store of ["kv", "r2"] as const)
        expect(await world.ingest.store.readManifest(store)).toMatchObject({
          value: { generation: 3 },
        });
    },
  );
});

describe("a number of a ledger", () => {
  const gone = { id: "1", row: "1", iata: "AAA", lat: 1, lon: 1 };
  const airport = { ...gone, anchor: { lat: 1, lon: 1 } };
  const accepted = { airports: [airport], gone: [gone], regions: {}, codedRows: 1 };
  const held = [aHeldChange()];
  const LAT = { least: -90, most: 90, isFraction: true } as const;
  const ranges: { readonly [name: string]: NumberRange } = {
    lat: LAT,
    lon: { ...LAT, least: -180, most: 180 },
    codedRows: COUNT,
  };
  const rows = Object.entries({ accepted, held }).flatMap(([file, value]) =>
    numberPaths(value).flatMap((path) => {
      const name = path.at(-1) ?? "";
      return valuesOf(ranges[name] ?? COUNT)
        .filter(([text]) => name === "codedRows" || text !== "-1.5")
        .map(
          ([text, isRight]) =>
            [
              file,
              path.join("."),
              text,
              isRight || (name === "codedRows" && text === "null"),
            ] as const,
        );
    }),
  );

  it.each(rows)(
    "is read in the ledger's file %s: %s of %s: %s",
    async (file, path, text, isRight) => {
      const files = { accepted, held };
      const archive = new Map(
        Object.entries(files).map(([name, value]) => [
          name,
          gzipSync(
            name === file ? withNumber(value, path.split("."), text) : JSON.stringify(value),
          ),
        ]),
      );
      const read = async (name: string) => {
        const bytes = archive.get(name);
        return bytes === undefined ? null : new Uint8Array(bytes);
      };
      const found = await readLedger({ read }, [{ accepted: "accepted", held: "held" }]);
      // A lost list of held changes is made again.
      const isLost = file === "accepted" && !isRight;
      expect([found.ledger !== null, found.isLost]).toEqual([!isLost, isLost]);
      expect(found.ledger?.held ?? []).toHaveLength(isRight ? 1 : 0);
    },
  );
});
