/** A real coordinator over real stores. What it decides is proved in `test/node/coordinator`. */
import { brotliDecompressSync } from "node:zlib";
import platform from "../../../docs/platform.md?raw";
import snapshot from "../../../data/snapshot/manifest.json";
import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { composeBody, REPRESENTATIONS } from "../../../src/parts/compose.ts";
import { blobsOf, type Manifest, messageSha256 } from "../../../src/parts/manifest.ts";
import type { QueueAnswer } from "../../../src/coordinator/run-queue.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { sharedParts } from "../../../src/ingest/encode-stage.ts";
import { OVERDUE, WORK_LIMIT_MS } from "../../../src/platform/work-limit.ts";
import { dropKey, MANIFEST_KEY, sourceKey } from "../../../src/storage/keys.ts";
import { admin, checkedFetch } from "../checked-fetch.ts";
import {
  alarmTime,
  coordinator,
  enqueue,
  historyRows,
  RUN_TIMEOUT_MS,
  runEnded,
  runToEnd,
  runWhen,
  servedManifest,
  settled,
  store,
} from "./coordinator-under-test.ts";
import { dropAirports, DROPPED_AS_OF, SMALL_AIRPORTS } from "./small-world.ts";

const SOURCE = { source: "dropped" } as const;

/** Two that were put in the queue at the same time. */
let racing: [QueueAnswer, QueueAnswer];
let first: Manifest;
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

/** Lets R2 refuse the first source, and KV the first blob and the manifest, once each. */
function refuseWrites(): void {
  const archive = env.ARCHIVE.put.bind(env.ARCHIVE);
  vi.spyOn(env.ARCHIVE, "put").mockImplementation(async (key, value, options) =>
    refused.length === 0 ? refuse(key) : archive(key, value, options),
  );
  const put = env.CATALOG.put.bind(env.CATALOG);
  vi.spyOn(env.CATALOG, "put").mockImplementation(async (key, value, options) => {
    const isNext = key === MANIFEST_KEY ? refused.length === 2 : refused.length === 1;
    return isNext ? refuse(key) : put(key, value, options);
  });
}

async function expectWhole(manifest: Manifest): Promise<void> {
  for (const sha256 of blobsOf(manifest))
    for (const replica of ["kv", "r2"] as const)
      expect(await store.readBlob(replica, sha256)).toMatchObject({ ok: true });
}

afterEach(() => {
  vi.restoreAllMocks();
});

beforeAll(async () => {
  await dropAirports(SMALL_AIRPORTS);
  refuseWrites();
  racing = await Promise.all([enqueue(SOURCE), enqueue(SOURCE)]);
  const { id } = racing[0].run;
  await runWhen(id, ({ progress }) => progress.done >= 1);
  await abortAllDurableObjects();
  // Steps may be over sooner than anybody looks.
  await runWhen(id, ({ progress }) => progress.done > sharedParts().length);
  await evictDurableObject(coordinator());
  published = await runEnded(id);
  first = await servedManifest();
}, RUN_TIMEOUT_MS);

describe("a run that meets a fault of each store, a reset and an eviction", () => {
  it("is one, though two calls requested it at once", () => {
    expect(racing[0].run.id).toBe(racing[1].run.id);
    expect(racing.filter(({ changed }) => changed)).toHaveLength(1);
  });

  it("publishes after it has repeated the failed steps; until then, the former version is served", () => {
    expect(published).toMatchObject({
      state: "succeeded",
      outcome: "published",
      attempt: 1,
      retries: 3,
      error: null,
      generation_after: 1,
    });
    expect(refused).toEqual([
      { key: expect.stringMatching(/^sources\//), served: "missing" },
      { key: expect.stringMatching(/^catalog\/blob\//), served: "missing" },
      { key: MANIFEST_KEY, served: "missing" },
    ]);
  });

  it("publishes the configured locales in every coding, identical in KV and R2", async () => {
    expect(first).toMatchObject({ generation: 1, previous: null, as_of: DROPPED_AS_OF });
    expect(Object.keys(first.locales)).toEqual(["de", "en", "ja"]);
    const codings = ["br", "gzip", "identity", "grpc-br", "grpc-gzip"] as const;
    for (const locale of Object.keys(first.locales)) {
      const composed = REPRESENTATIONS.map((representation) =>
        codings.filter((coding) => composeBody(first, { locale, representation, coding })),
      );
      expect(composed).toEqual([
        ["br", "gzip", "identity"],
        ["br", "gzip", "identity"],
        codings,
        ["identity", "grpc-br", "grpc-gzip"],
        codings,
      ]);
    }
    expect(await store.readManifest("r2")).toEqual({ ok: true, value: first });
    expect(await store.readGeneration(1)).toEqual({ ok: true, value: first });
    await expectWhole(first);
    for (const { sha256 } of Object.values(published.upstream))
      expect(await env.ARCHIVE.head(sourceKey(sha256))).not.toBeNull();
  });

  it("writes as many values to KV as the documents count", () => {
    const locales = Object.keys(first.locales).length;
    const [shared, ofLocale] = [8, 5];
    expect(blobsOf(first).size).toBe(shared + locales * ofLocale);
    const all = snapshot.locales.length;
    expect(platform).toContain(
      `writes ${shared + all * ofLocale + 1} values: ${shared} shared parts, ${ofLocale} of each of ${all} locales, and the manifest`,
    );
    expect(platform).toContain(
      `writes ${shared + 3}: the ${shared} shared parts, two of the diff, and the manifest`,
    );
  });

  it("sends the names of a locale in one coding, which a client decodes to them", async () => {
    const entry = first.locales["de"];
    const sha256 = entry && messageSha256(entry);
    const stored = await store.readBlob("kv", entry?.names?.sha256 ?? "");
    const json = stored.ok && brotliDecompressSync(stored.value).toString();
    for (const coding of ["br", null]) {
      const headers = { "accept-encoding": coding ?? "gzip" };
      const answer = await checkedFetch(`/catalog/names?locale=de&v=${sha256}`, { headers });
      expect(answer.headers.get("content-encoding")).toBe(coding);
      expect(await answer.text()).toBe(json);
    }
  });

  it("has one row in D1 with its final state, and leaves no alarm", async () => {
    await settled();
    expect(await historyRows()).toEqual([published]);
    // A second look at the store that has failed is due later.
    expect((await alarmTime()) ?? Infinity).toBeGreaterThan(Date.now() + 60_000);
  });
});

describe("the versions", { timeout: RUN_TIMEOUT_MS }, () => {
  it("follow dropped files with the date of the request, an approval after they are gone, and a rollback", async () => {
    await dropAirports(SMALL_AIRPORTS / 2);
    const half = await runToEnd({ ...SOURCE, as_of: "2026-01-05" });
    expect(half).toMatchObject({ as_of: "2026-01-05", error: { code: "guard_truncated" } });
    expect((await servedManifest()).generation).toBe(1);
    await env.ARCHIVE.delete([dropKey("airports.csv"), dropKey("regions.csv.gz")]);
    const body = { candidate_of: half.id, force: true };
    const answer = await admin("POST", "/admin/ingest/queue", body);
    const { run } = await answer.json<{ run: { id: string } }>();
    expect(await runEnded(run.id)).toMatchObject({ outcome: "published", generation_after: 2 });
    const second = await servedManifest();
    expect(second).toMatchObject({ previous: 1, as_of: "2026-01-05" });
    await expectWhole(second);
    await admin("POST", "/admin/catalog/rollback", { generation: 1 });
    await expect.poll(async () => (await servedManifest()).generation).toBe(3);
    const manifest = await servedManifest();
    const published_at = expect.any(String);
    expect(manifest).toEqual({ ...first, generation: 3, previous: 2, published_at });
    await expectWhole(manifest);
    await evictDurableObject(coordinator());
    const list = await admin("GET", "/admin/catalog/versions");
    expect(await list.json()).toMatchObject({
      versions: [{ generation: 3, is_current: true }, { generation: 2 }, { generation: 1 }],
    });
  });
});

describe("a pause", { timeout: RUN_TIMEOUT_MS }, () => {
  it("holds a run over an eviction, until an alarm ends it", async () => {
    await settled();
    const until = (inMs: number) => new Date(Date.now() + inMs).toISOString();
    await admin("POST", "/admin/ingest/pause", { until: until(3_600_000) });
    const { run } = await enqueue({ mode: "dry_run" });
    await evictDurableObject(coordinator());
    await settled();
    expect(await coordinator().findRun(run.id)).toMatchObject({ state: "queued" });
    const end = until(1_000);
    await admin("POST", "/admin/ingest/pause", { until: end });
    const started = await runWhen(run.id, ({ started_at }) => started_at !== null);
    expect((started.started_at ?? "") >= end).toBe(true);
    await coordinator().cancel(run.id, { by: "ops", note: null });
    expect(await runEnded(run.id)).toMatchObject({ state: "cancelled" });
  });
});

describe("rows whose numbers are too high", { timeout: RUN_TIMEOUT_MS }, () => {
  it("stop neither runs nor decisions", async () => {
    await settled();
    await dropAirports(SMALL_AIRPORTS);
    const { generation } = await servedManifest();
    await runInDurableObject(coordinator(), (_, { storage: { sql } }) => {
      for (const seq of ["9007199254740993", "9223372036854775807"]) {
        sql.exec(`INSERT INTO versions SELECT ${seq}, manifest FROM versions LIMIT 1`);
        sql.exec(`INSERT INTO decisions VALUES (${seq}, '${seq}', '{}')`);
        sql.exec(`INSERT INTO outgoing VALUES (${seq}, 'audit', NULL, '{}')`);
      }
    });
    await abortAllDurableObjects();
    const by = { by: "ops", at: new Date().toISOString(), note: null };
    await coordinator().decide([{ id: "1-0000000000000000", verdict: "rejected", ...by }]);
    expect(await runToEnd({ ...SOURCE, mode: "full", forced: true })).toMatchObject({
      state: "succeeded",
    });
    const [newest] = await coordinator().versions();
    expect(newest?.generation).toBe((await servedManifest()).generation);
    expect(newest?.generation).toBeGreaterThanOrEqual(generation);
    const setAside = await coordinator().setAside();
    expect(setAside.map(({ table }) => table).toSorted()).toEqual(
      ["decisions", "outgoing", "versions"].flatMap((table) => [table, table]),
    );
  });
});

describe("a step that hangs", { timeout: RUN_TIMEOUT_MS }, () => {
  it("starts again in another instance once a caller's clock says that it takes too long", async () => {
    await settled();
    await dropAirports(SMALL_AIRPORTS);
    let hasHung = false;
    vi.spyOn(env.ARCHIVE, "put").mockImplementation(() => {
      hasHung = true;
      return new Promise(() => {});
    });
    const { run } = await enqueue({ ...SOURCE, mode: "full", forced: true });
    await expect.poll(() => hasHung).toBe(true);
    vi.restoreAllMocks();
    await coordinator().reconcile(Date.now());
    expect(await coordinator().findRun(run.id)).toMatchObject({ state: "running" });
    const late = Date.now() + 2 * WORK_LIMIT_MS;
    await expect(coordinator().reconcile(late)).rejects.toThrow(OVERDUE);
    expect(await runEnded(run.id)).toMatchObject({ state: "succeeded" });
  });
});
