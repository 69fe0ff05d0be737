import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import snapshotManifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { compareText } from "../../../src/catalog/integrity.ts";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import type { QueueAnswer } from "../../../src/coordinator/run-queue.ts";
import { STAGES } from "../../../src/ingest/report.ts";
import type { Run } from "../../../src/coordinator/run.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { snapshot } from "./small-world.ts";
import {
  alarmTime,
  coordinator,
  enqueue,
  historyRows,
  RUN_TIMEOUT_MS,
  runEnded,
  runWhen,
  servedManifest,
  settled,
  store,
} from "./coordinator-under-test.ts";

const AIRPORTS = snapshotManifest.counts.airports;

let enqueued: QueueAnswer;
/** Two that were put in the queue at the same time, while the first run was under way. */
let racing: QueueAnswer[];
let first: Run;
let second: Run;

beforeAll(async () => {
  enqueued = await enqueue({ note: "the first" });
  await runWhen(enqueued.run.id, ({ state }) => state === "running");
  racing = await Promise.all([enqueue({ trigger: "cron" }), enqueue({ trigger: "cron" })]);
  first = await runEnded(enqueued.run.id);
  second = await runEnded(racing[0]?.run.id ?? "");
}, RUN_TIMEOUT_MS);

describe("the first run", () => {
  it("starts immediately", () => {
    expect(enqueued).toMatchObject({
      changed: true,
      will_start: "now",
      queue_position: 1,
      queue_depth: 1,
      paused: false,
      run: {
        state: "queued",
        trigger: "manual",
        mode: "incremental",
        note: "the first",
        source: "embedded",
        attempt: 1,
      },
    });
  });

  it("ends as published, with all its counts", () => {
    expect(first).toMatchObject({
      id: enqueued.run.id,
      state: "succeeded",
      outcome: "published",
      error: null,
      retries: 0,
      generation_before: null,
      generation_after: 1,
      stage: STAGES.at(-1),
      guards: [],
      rejects: [],
      rejects_total: 0,
      accounting: { filtered: 0, rejected_by_reason: {}, new_regions: [] },
    });
    expect(first.counts?.airports).toEqual({
      seen: AIRPORTS,
      kept: AIRPORTS,
      rejected: 0,
      added: AIRPORTS,
      changed: 0,
      removed: 0,
    });
    expect(first.progress.done).toBe(first.progress.total);
    const times = [first.queued_at, first.started_at, first.heartbeat_at, first.finished_at];
    expect(times.toSorted((a, b) => compareText(a ?? "", b ?? ""))).toEqual(times);
  });

  it("publishes the configured locales in every coding, identical in KV and R2", async () => {
    const manifest = await servedManifest();
    expect(manifest).toMatchObject({
      generation: 1,
      previous: null,
      counts: { airports: AIRPORTS },
    });
    expect(Object.keys(manifest.locales)).toEqual(["de", "en", "ja"]);
    for (const { bodies } of Object.values(manifest.locales))
      expect(Object.keys(bodies.json)).toEqual(["br", "gzip", "identity"]);
    expect(await store.readManifest("r2")).toEqual({ ok: true, value: manifest });
    expect(await store.readGeneration(1)).toEqual({ ok: true, value: manifest });
  });

  it("stores each blob that the manifest names under its hash in KV and R2", async () => {
    const blobs = manifestBlobs(await servedManifest());
    for (const sha256 of blobs)
      for (const replica of ["kv", "r2"] as const) {
        const copy = await store.readBlob(replica, sha256);
        expect(copy.ok, `${replica} ${blobKey(sha256)}`).toBe(true);
      }
  });

  it("archives upstream's exact bytes and records their hashes", async () => {
    const { sources } = await servedManifest();
    for (const file of ["airports.csv.gz", "regions.csv.gz"]) {
      const archived = await env.ARCHIVE.get(`sources/${sources[file]}`);
      const bytes = new Uint8Array((await archived?.arrayBuffer()) ?? new ArrayBuffer());
      expect(bytes, file).toEqual(new Uint8Array(await snapshot.read(file)));
      const facts = { sha256: sources[file], bytes: bytes.length };
      expect(first.upstream[file]).toMatchObject(facts);
    }
  });
});

describe("two simultaneous calls of enqueue", () => {
  it("make one run, and both return it", () => {
    expect(new Set(racing.map(({ run }) => run.id)).size).toBe(1);
    expect(racing.filter(({ changed }) => changed)).toHaveLength(1);
    for (const { will_start } of racing) expect(will_start).toBe(`after_run:${first.id}`);
  });

  it("let the run start after the run under way has ended", () => {
    expect((second.started_at ?? "") >= (first.finished_at ?? "?")).toBe(true);
  });
});

describe("a run of the same content", () => {
  it("ends as unchanged and leaves the manifest alone", async () => {
    expect(second).toMatchObject({
      state: "succeeded",
      outcome: "unchanged",
      error: null,
      generation_before: 1,
      generation_after: null,
      catalog_sha256: first.catalog_sha256,
    });
    expect(second.counts?.airports).toMatchObject({
      kept: AIRPORTS,
      added: 0,
      changed: 0,
      removed: 0,
    });
    expect((await servedManifest()).generation).toBe(1);
  });
});

describe("the history in D1", () => {
  it("has one row for each run, with its final state", async () => {
    await expect
      .poll(async () => (await historyRows()).map(({ state }) => state))
      .toEqual(["succeeded", "succeeded"]);
    const rows = await historyRows();
    expect(rows.map(({ id, outcome }) => [id, outcome])).toEqual([
      [first.id, "published"],
      [second.id, "unchanged"],
    ]);
    expect(rows[0]?.accounting).toEqual(first.accounting);
    expect(rows[0]).toMatchObject({
      note: "the first",
      generation_after: 1,
      catalog_sha256: first.catalog_sha256,
      finished_at: first.finished_at,
      requested_by: "ops",
      error: null,
    });
  });

  it("has all its rows: the outbox is empty and no alarm is set", async () => {
    await settled();
    expect(await alarmTime()).toBeNull();
    const { ended, ...status } = await coordinator().status();
    expect(new Set(ended.map(({ outcome }) => outcome))).toEqual(
      new Set(["published", "unchanged"]),
    );
    expect(status).toEqual({
      foreign: null,
      pause: null,
      running: null,
      job: null,
      queued: [],
      nextDueAt: null,
      current: {
        generation: 1,
        published_at: (await servedManifest()).published_at,
        catalog_sha256: first.catalog_sha256,
        counts: (await servedManifest()).counts,
        locales: ["de", "en", "ja"],
        is_current: true,
        has_diff: true,
        republishes: null,
      },
      replicated: true,
      held: { waiting: 0, oldest_since: null, next_due_at: null },
      outboxLength: 0,
      historyLostAt: null,
      lastTicks: {},
      bestCoverage: { de: expect.any(Number), en: expect.any(Number), ja: expect.any(Number) },
      oldestPublishedAt: (await servedManifest()).published_at,
      localeSettings: { locales: ["de", "en", "ja"], defaultLocale: "en" },
      setAside: [],
    });
  });
});
