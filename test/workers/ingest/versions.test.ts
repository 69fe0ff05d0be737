import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { type Manifest, manifestBlobs } from "../../../src/catalog/manifest.ts";
import type { Run } from "../../../src/ingest/run.ts";
import {
  coordinator,
  RUN_TIMEOUT_MS,
  runToEnd,
  servedManifest,
  settled,
  store,
} from "./coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "./small-world.ts";

let first: Manifest;
let dropped: Run;

async function readsEveryBlob(manifest: Manifest): Promise<boolean> {
  for (const sha256 of manifestBlobs(manifest))
    for (const replica of ["kv", "r2"] as const)
      if (!(await store.readBlob(replica, sha256)).ok) return false;
  return true;
}

beforeAll(async () => {
  await dropAirports(SMALL_AIRPORTS);
  await runToEnd({ source: "dropped" });
  first = await servedManifest();
  await dropAirports(SMALL_AIRPORTS - 3);
  dropped = await runToEnd({ source: "dropped" });
}, RUN_TIMEOUT_MS);

describe("a run from files that an operator dropped", { timeout: RUN_TIMEOUT_MS }, () => {
  it("publishes what is in them, as the next generation", async () => {
    expect(dropped).toMatchObject({
      state: "succeeded",
      outcome: "published",
      source: "dropped",
      generation_before: 1,
      generation_after: 2,
      counts: { airports: { kept: SMALL_AIRPORTS - 3, added: 0, removed: 3 } },
    });
    const manifest = await servedManifest();
    expect(manifest).toMatchObject({
      generation: 2,
      previous: 1,
      counts: { airports: SMALL_AIRPORTS - 3 },
    });
    expect(manifest.catalog_sha256).not.toBe(first.catalog_sha256);
  });

  it("keeps the blobs of the version before, which can be rolled back to", async () => {
    expect(await readsEveryBlob(first)).toBe(true);
    expect(await readsEveryBlob(await servedManifest())).toBe(true);
  });

  it("is refused by the guards when half of them is gone, and nothing changes", async () => {
    await dropAirports(SMALL_AIRPORTS / 2);
    const refused = await runToEnd({ source: "dropped" });
    expect(refused).toMatchObject({
      state: "failed",
      attempt: 1,
      retries: 0,
      error: { code: "guard_shrink", stage: "guard" },
      generation_after: null,
    });
    expect(refused.error?.message).toContain("airports 397 → 200");
    expect(refused.guards.map(({ guard }) => guard)).toContain("guard_shrink");
    expect((await servedManifest()).generation).toBe(2);
    await settled();
    expect((await coordinator().status()).queued).toEqual([]);
  });
});

describe("a rollback", { timeout: RUN_TIMEOUT_MS }, () => {
  it("to what is current changes nothing, and is refused to what is not retained", async () => {
    expect(await coordinator().rollback(2)).toMatchObject({ ok: true, changed: false });
    for (const generation of [0, 3, -1, 1.5])
      expect(await coordinator().rollback(generation)).toEqual({
        ok: false,
        reason: "not_retained",
      });
  });

  it("serves the earlier blobs again under a new generation, also while paused", async () => {
    await coordinator().pause({ by: "ops", reason: null, until: null }, false);
    expect(await coordinator().rollback(1)).toMatchObject({
      ok: true,
      version: { generation: 3, catalog_sha256: first.catalog_sha256, is_current: true },
    });
    await expect.poll(async () => (await servedManifest()).generation).toBe(3);
    const manifest = await servedManifest();
    expect(manifest).toEqual({
      ...first,
      generation: 3,
      previous: 2,
      published_at: expect.any(String),
    });
    expect(await store.readManifest("r2")).toEqual({ ok: true, value: manifest });
    expect(await readsEveryBlob(manifest)).toBe(true);
    await settled();
    await coordinator().resume();
  });

  it("is one of the versions, which outlive an eviction", async () => {
    await evictDurableObject(coordinator());
    const versions = await coordinator().versions();
    expect(versions.map(({ generation, is_current }) => [generation, is_current])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ]);
    expect(await coordinator().findVersion(1)).toEqual(first);
    expect(await coordinator().findVersion(4)).toBeNull();
  });
});
