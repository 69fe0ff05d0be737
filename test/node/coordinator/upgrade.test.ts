import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import type { Manifest } from "../../../src/parts/manifest.ts";
import { generationKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { beginEachWith, CoordinatorWorld } from "../../builders/coordinator-world.ts";
import { toBytes } from "../../builders/memory-bucket.ts";

const world = new CoordinatorWorld({ locales: ["de", "en"] });
/** What was published before. */
let before: readonly Manifest[];

/** Gives the tables and the stores what the release had written whose sealed manifests had format 3. */
beginEachWith(world, async () => {
  await world.publishVersions(3);
  await world.coordinator.pause({ by: "ops", note: "kept", until: null }, false);
  before = world.state.versions();
  const { sql } = world.tables;
  sql.exec("DELETE FROM schema_version WHERE version > 1");
  for (const row of sql.exec("SELECT * FROM versions").toArray()) {
    const manifest = JSON.parse(String(row["manifest"]));
    for (const locale of Object.values<Record<string, object>>(manifest.locales)) {
      delete locale["own"];
      locale["translation"] = { pieces: "", layouts: sha256Hex(""), templates: {} };
    }
    const former = JSON.stringify({ ...manifest, format: 1 });
    const generation = Number(row["generation"]);
    sql.exec("UPDATE versions SET manifest = ? WHERE generation = ?", former, generation);
  }
  for (const files of [world.store.kv, world.store.r2])
    for (const key of [MANIFEST_KEY, ...[1, 2, 3].map(generationKey)]) {
      const text = new TextDecoder().decode(files.get(key)).replace('"format":5', '"format":3');
      const json = text.split("\n").slice(0, -1).join("\n");
      if (files.has(key)) files.set(key, toBytes(`${json}\n${sha256Hex(json)}`));
    }
});

describe("a deployment over manifests of format 3", () => {
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

  it("counts them as absent, and shows the same versions again without an ingest, even in a pause", async () => {
    expect(await world.store.readManifest("kv")).toMatchObject({ fault: "missing" });
    world.crash();
    await world.drain();
    const [newest] = before;
    const { locales, diffs, ...rest } = (await world.served()) ?? {};
    expect({ ...newest, ...rest }).toEqual(newest);
    expect(diffs).toEqual(newest?.diffs.map((diff) => ({ ...diff, deltas: null })));
    for (const [locale, { own, ...entry }] of Object.entries(newest?.locales ?? {})) {
      expect(Object.keys(own)).toEqual(["proto", "json"]);
      expect(locales?.[locale]).toEqual({ ...entry, own: {} });
    }
    expect(Object.keys(locales ?? {})).toEqual(Object.keys(newest?.locales ?? {}));
    expect(world.state.versions().map(({ generation }) => generation)).toEqual([3, 2, 1]);
    expect(world.coordinator.status().pause).toMatchObject({ by: "ops", note: "kept" });
  });

  it("compares upstream with what was accepted, publishes the next generation, and rolls back", async () => {
    const ledger = world.state.savedLedger();
    world.crash();
    expect(world.state.savedLedger()).toEqual(ledger);
    await world.coordinator.resume();
    world.renameAirport("Kloten");
    expect(await world.runToEnd()).toMatchObject({ generation_before: 3, generation_after: 4 });
    const { en } = world.current()?.locales ?? {};
    expect(Object.keys(en?.own ?? {})).toEqual(["proto", "json"]);
    expect(await world.coordinator.rollback(1)).toMatchObject({ version: { generation: 5 } });
  });

  it("publishes above them also after the loss of its tables", async () => {
    world.loseTables();
    expect(await world.coordinator.takeOver("ops")).toMatchObject({ version: null, paused: true });
    await world.coordinator.resume();
    expect(await world.runToEnd()).toMatchObject({ generation_before: null, generation_after: 4 });
    expect(await world.served()).toMatchObject({ generation: 4, previous: null });
    expect(world.coordinator.setAside()).toEqual([]);
  });
});
