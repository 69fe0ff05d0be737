import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { commonUnits } from "../../../src/ingest/bodies.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { MANIFEST_KEY } from "../../../src/storage/keys.ts";
import {
  coordinator,
  enqueue,
  RUN_TIMEOUT_MS,
  runEnded,
  runWhen,
  servedManifest,
  store,
} from "./coordinator-under-test.ts";
import { dropAirports, SMALL_AIRPORTS } from "./small-world.ts";

const SOURCE = { source: "dropped" } as const;

beforeAll(() => dropAirports(SMALL_AIRPORTS));

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a run that meets a fault of each store, a reset and an eviction", () => {
  let published: Run;
  /** What a store refused once, and what was served then. */
  const refused: { readonly key: string; served?: string }[] = [];

  async function refuse(key: string): Promise<never> {
    const refusal: (typeof refused)[number] = { key };
    refused.push(refusal);
    const copy = await store.readManifest("kv");
    refusal.served = copy.ok ? `generation ${copy.value.generation}` : copy.fault;
    throw new Error("PUT failed: 429 Too Many Requests");
  }

  function refuseFirstSource(): void {
    const put = env.ARCHIVE.put.bind(env.ARCHIVE);
    vi.spyOn(env.ARCHIVE, "put").mockImplementation(async (key, value, options) =>
      refused.length === 0 ? refuse(key) : put(key, value, options),
    );
  }

  /** Lets KV refuse the first blob, and the manifest, once each. */
  function refuseBlobAndManifest(): void {
    const put = env.CATALOG.put.bind(env.CATALOG);
    vi.spyOn(env.CATALOG, "put").mockImplementation(async (key, value, options) => {
      const isNext = key === MANIFEST_KEY ? refused.length === 2 : refused.length === 1;
      return isNext ? refuse(key) : put(key, value, options);
    });
  }

  beforeAll(async () => {
    refuseFirstSource();
    refuseBlobAndManifest();
    const { run } = await enqueue(SOURCE);
    await runWhen(run.id, ({ progress }) => progress.done >= 1);
    await abortAllDurableObjects();
    // Steps may be over sooner than anybody looks.
    await runWhen(run.id, ({ progress }) => progress.done > commonUnits().length);
    await evictDurableObject(coordinator());
    published = await runEnded(run.id);
  }, RUN_TIMEOUT_MS);

  it("publishes after it has repeated the failed steps", () => {
    expect(published).toMatchObject({
      state: "succeeded",
      outcome: "published",
      attempt: 1,
      error: null,
      generation_after: 1,
    });
    expect(published.retries).toBe(3);
  });

  it("leaves the served catalog as it was until it is complete", () => {
    expect(refused).toEqual([
      { key: expect.stringMatching(/^sources\//), served: "missing" },
      { key: expect.stringMatching(/^catalog\/blob\//), served: "missing" },
      { key: MANIFEST_KEY, served: "missing" },
    ]);
  });

  it("names only blobs that a reader finds in both stores", async () => {
    const manifest = await servedManifest();
    expect(manifest).toMatchObject({ generation: 1, previous: null });
    expect(Object.keys(manifest.locales)).toEqual(["de", "en", "ja"]);
    for (const sha256 of manifestBlobs(manifest))
      for (const replica of ["kv", "r2"] as const)
        expect(await store.readBlob(replica, sha256)).toMatchObject({ ok: true });
  });
});
