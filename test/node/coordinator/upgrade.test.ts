import { describe, expect, it } from "vitest";
import { FORMER_FORMAT } from "../../../src/parts/former-manifest.ts";
import { blobsOf, type Manifest, MANIFEST_FORMAT } from "../../../src/parts/manifest.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { startEachFrom, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { rewriteVersions, serializeFormer, toFormer } from "../../builders/former-manifest.ts";
import { toBytes } from "../../builders/memory-bucket.ts";
import { manifestBytes } from "../../builders/memory-catalog-store.ts";

/** What an earlier release has written. */
interface Release {
  /** Format of the manifests in KV and R2. */
  readonly format: number;
  /** Version of the coordinator's tables. */
  readonly tables: number;
  /** A manifest in them. */
  readonly rowOf: (manifest: Manifest) => object;
}

const RELEASES: readonly Release[] = [
  { format: FORMER_FORMAT, tables: 4, rowOf: toFormer },
  { format: 4, tables: 2, rowOf: (manifest) => ({ ...toFormer(manifest), format: 4 }) },
  {
    format: 3,
    tables: 1,
    rowOf(manifest) {
      const { locales, ...former } = toFormer(manifest);
      const translation = { pieces: "", layouts: "", templates: {} };
      const entries = Object.entries(locales).map(([locale, { coverage, bodies }]) => [
        locale,
        { coverage, bodies, translation },
      ]);
      return { ...former, format: 1, diffs: manifest.diffs, locales: Object.fromEntries(entries) };
    },
  },
];

/** Lets each test start with a coordinator that is paused over three versions of a release. */
function startWith({ format, tables, rowOf }: Release) {
  const world = new CoordinatorWorld({ locales: ["de", "en"] });
  /** What was published, the newest first. */
  const before: Manifest[] = [];
  startEachFrom(world, async () => {
    await world.publishVersions(3);
    await world.coordinator.pause({ by: "ops", note: "kept", until: null }, false);
    before.push(...world.state.versions().map(withoutNames));
    world.tables.sql.exec("DELETE FROM schema_version WHERE version > ?", tables);
    world.tables.sql.exec("ALTER TABLE single_values RENAME TO facts");
    rewriteVersions(world.tables, rowOf);
    for (const manifest of before)
      world.store.bucket.lay(generationKey(manifest.generation), serializeFormer(manifest, format));
    const text = serializeFormer(newestOf(before), format);
    const { customMetadata } = world.store.bucket.recorded.get(MANIFEST_KEY) ?? {};
    const metadata = { ...customMetadata, format: String(format) };
    world.store.bucket.lay(MANIFEST_KEY, text, { customMetadata: metadata });
    world.store.kv.set(MANIFEST_KEY, toBytes(text));
  });
  return { world, before };
}

/** No earlier release has stored the names of a locale. */
function withoutNames(manifest: Manifest): Manifest {
  const entries = Object.entries(manifest.locales).map(([locale, { coverage, parts }]) => [
    locale,
    { coverage, parts },
  ]);
  return { ...manifest, locales: Object.fromEntries(entries) };
}

function newestOf([newest]: readonly Manifest[]): Manifest {
  if (newest === undefined) throw new Error("nothing was published");
  return newest;
}

describe.each(RELEASES)("a deployment over manifests of format $format", (release) => {
  const { world, before } = startWith(release);
  const isRead = release.format === FORMER_FORMAT;

  it("serves them before the coordinator starts, or counts them as absent", async () => {
    const [newest, , oldest] = before;
    const { store } = world;
    for (const [read, manifest] of [
      [() => store.readManifest("kv"), newest],
      [() => store.readManifest("r2"), newest],
      [() => store.readGeneration(1), oldest],
    ] as const) {
      const copy = await read();
      expect(copy.ok ? copy.value : copy.fault).toEqual(isRead ? manifest : "missing");
    }
  });

  it.each(["", "{", "null", "[]", "{}", '{"locales":5}'])(
    "opens though a version is %j, and goes on with the newer ones",
    async (text) => {
      world.tables.sql.exec("UPDATE versions SET manifest = ? WHERE generation = 1", text);
      world.crash();
      await world.drain();
      expect(world.state.versions().map(({ generation }) => generation)).toEqual([3, 2]);
      expect(world.coordinator.setAside()).toMatchObject([{ table: "versions", key: "1" }]);
    },
  );

  it("sets aside a version if its bodies name a segment that it does not list", async () => {
    world.tables.sql.exec(
      "UPDATE versions SET manifest = json_set(manifest, '$.segments', json('[]')) WHERE generation = 1",
    );
    world.crash();
    await world.drain();
    expect(world.state.versions()).toEqual(before.slice(0, 2));
    expect(world.coordinator.setAside()).toMatchObject([
      { table: "versions", key: "1", problem: expect.stringContaining("without its parts") },
    ]);
  });

  it("shows the same versions again without an ingest, even in a pause", async () => {
    world.crash();
    await world.drain();
    expect(world.state.versions()).toEqual(before);
    const rows = world.tables.sql.exec("SELECT manifest FROM versions").toArray();
    for (const row of rows)
      expect(JSON.parse(String(row["manifest"]))).toMatchObject({ format: MANIFEST_FORMAT });
    expect(rows).toHaveLength(before.length);
    const text = manifestBytes(newestOf(before));
    expect(world.store.kv.get(MANIFEST_KEY)).toEqual(text);
    for (const key of [MANIFEST_KEY, generationKey(3)])
      expect(world.store.r2.get(key)).toEqual(text);
    expect(world.coordinator.status()).toMatchObject({
      replicated: true,
      pause: { by: "ops", note: "kept" },
    });
  });

  it("compares upstream with the ledger, publishes the next generation, and rolls back", async () => {
    const ledger = world.state.savedLedger();
    world.crash();
    expect(world.state.savedLedger()).toEqual(ledger);
    await world.coordinator.resume();
    world.renameAirport("Kloten");
    const calls = world.calls.length;
    expect(await world.runToEnd()).toMatchObject({ generation_before: 3, generation_after: 4 });
    const newest = newestOf(before);
    const current = newestOf(world.state.versions());
    expect(current.diffs.map(({ generation }) => generation)).toEqual([3, 2, 1]);
    // It takes the parts of each locale, whose regions are the same.
    const written = world.calls
      .slice(calls)
      .filter((call) => call.startsWith("kv put catalog/blob"));
    const missing = [...blobsOf(current)].filter((sha256) => !blobsOf(newest).has(sha256));
    expect(written).toHaveLength(missing.length);
    for (const [locale, { parts }] of Object.entries(current.locales))
      expect(parts.proto.gzip).toEqual(newest.locales[locale]?.parts.proto.gzip);
    expect(await world.coordinator.rollback(1)).toMatchObject({ version: { generation: 5 } });
  });

  it("publishes above them also after the loss of its tables", async () => {
    world.loseTables();
    const version = isRead ? { generation: 4, republishes: 3 } : null;
    expect(await world.coordinator.takeOver("ops")).toMatchObject({ version, paused: true });
    await world.coordinator.resume();
    world.renameAirport("Kloten");
    const generation_before = isRead ? 4 : null;
    const generation_after = isRead ? 5 : 4;
    expect(await world.runToEnd()).toMatchObject({ generation_before, generation_after });
    expect(await world.served()).toMatchObject({
      generation: generation_after,
      previous: generation_before,
    });
    expect(world.coordinator.setAside()).toEqual([]);
  });
});
