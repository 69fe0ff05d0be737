import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Manifest, manifestBlobs } from "../../../src/catalog/manifest.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { dropKey, sourceKey } from "../../../src/storage/keys.ts";
import { admin } from "../checked-fetch.ts";
import {
  coordinator,
  historyRows,
  RUN_TIMEOUT_MS,
  runEnded,
  runToEnd,
  servedManifest,
  settled,
  store,
} from "./coordinator-under-test.ts";
import { dropAirports, DROPPED_AS_OF, SMALL_AIRPORTS } from "./small-world.ts";

const HALF = SMALL_AIRPORTS / 2;

let first: Manifest;
let second: Run;
let refused: Run;

/** Airports that are not in the files: the snapshot adds what upstream did not list. */
const added = () => first.counts.airports - SMALL_AIRPORTS;

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
  second = await runToEnd({ source: "dropped", as_of: "2026-01-05" });
  await dropAirports(HALF);
  refused = await runToEnd({ source: "dropped" });
  await env.ARCHIVE.delete([dropKey("airports.csv"), dropKey("regions.csv.gz")]);
}, RUN_TIMEOUT_MS);

describe("a run from files that an operator dropped", { timeout: RUN_TIMEOUT_MS }, () => {
  it("publishes their content and keeps the blobs of the previous version", async () => {
    expect(added()).toBeGreaterThan(0);
    const airports = SMALL_AIRPORTS - 3 + added();
    expect(second).toMatchObject({
      state: "succeeded",
      outcome: "published",
      source: "dropped",
      generation_before: 1,
      generation_after: 2,
      counts: { airports: { kept: airports, added: 0, removed: 3 } },
    });
    const manifest = await servedManifest();
    expect(manifest).toMatchObject({ generation: 2, previous: 1, counts: { airports } });
    expect(manifest.catalog_sha256).not.toBe(first.catalog_sha256);
    expect(await readsEveryBlob(first)).toBe(true);
    expect(await readsEveryBlob(manifest)).toBe(true);
  });

  it("has the date of the files' metadata, or that of the request, and not the day of the drop", async () => {
    expect(first.as_of).toBe(DROPPED_AS_OF);
    expect(second).toMatchObject({ as_of: "2026-01-05" });
    expect((await servedManifest()).as_of).toBe("2026-01-05");
  });

  it("fails in the guards when half of the airports are gone, and changes nothing", async () => {
    expect(refused).toMatchObject({
      state: "failed",
      attempt: 1,
      retries: 0,
      error: { code: "guard_truncated", stage: "guard" },
      generation_after: null,
    });
    expect(refused.error?.message).toContain(
      `guard_shrink: airports ${397 + added()} → ${200 + added()}`,
    );
    expect((await servedManifest()).generation).toBe(2);
    await settled();
    expect((await coordinator().status()).queued).toEqual([]);
    for (const { sha256 } of Object.values(refused.upstream))
      expect(await env.ARCHIVE.head(sourceKey(sha256))).not.toBeNull();
  });

  it("publishes after an approval even though the files are gone", async () => {
    const body = { candidate_of: refused.id, force: true };
    const answer = await admin("POST", "/admin/ingest/queue", body);
    expect(answer.status).toBe(202);
    const { run } = await answer.json<{ run: { id: string } }>();
    const { upstream } = refused;
    expect(await runEnded(run.id)).toMatchObject({ outcome: "published", upstream });
    expect(await servedManifest()).toMatchObject({
      generation: 3,
      counts: { airports: HALF + added() },
    });
    await settled();
    expect((await historyRows()).at(-1)).toMatchObject({ candidate_of: refused.id });
  });
});

describe("a rollback", { timeout: RUN_TIMEOUT_MS }, () => {
  const rollBack = async (generation: number) => {
    const answer = await admin("POST", "/admin/catalog/rollback", { generation });
    return { status: answer.status, ...(await answer.json<object>()) };
  };

  it("changes nothing if the version is current", async () => {
    expect(await rollBack(3)).toMatchObject({ status: 200, changed: false });
  });

  it("serves the earlier blobs again under a new generation, even during a pause", async () => {
    await admin("POST", "/admin/ingest/pause");
    const { catalog_sha256 } = first;
    expect(await rollBack(1)).toMatchObject({
      version: { generation: 4, catalog_sha256, is_current: true },
      message: expect.stringContaining("Ingestion stays paused"),
    });
    await expect.poll(async () => (await servedManifest()).generation).toBe(4);
    const manifest = await servedManifest();
    const published_at = expect.any(String);
    expect(manifest).toEqual({ ...first, generation: 4, previous: 3, published_at });
    expect(await store.readManifest("r2")).toEqual({ ok: true, value: manifest });
    expect(await readsEveryBlob(manifest)).toBe(true);
    await settled();
    await admin("POST", "/admin/ingest/resume");
  });

  it("appears in the list of versions, which survives an eviction", async () => {
    await evictDurableObject(coordinator());
    const answer = await admin("GET", "/admin/catalog/versions");
    expect(await answer.json()).toMatchObject({
      versions: [
        { generation: 4, is_current: true },
        { generation: 3, is_current: false },
        { generation: 2, is_current: false },
        { generation: 1, is_current: false },
      ],
    });
    expect(await store.readGeneration(1)).toEqual({ ok: true, value: first });
  });
});
