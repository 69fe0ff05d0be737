import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { manifestBlobs } from "../../../src/catalog/manifest.ts";
import { commonUnits } from "../../../src/ingest/bodies.ts";
import type { Run } from "../../../src/ingest/run.ts";
import { blobKey, MANIFEST_KEY } from "../../../src/storage/keys.ts";
import { anEnqueueRequest } from "../../builders/run.ts";
import {
  coordinator,
  historyRows,
  RUN_TIMEOUT_MS,
  runEnded,
  runWhen,
  servedManifest,
  store,
} from "./coordinator-under-test.ts";

async function enqueue(): Promise<string> {
  return (await coordinator().enqueue(anEnqueueRequest())).run.id;
}

/** Makes KV refuse the puts that `refuses` names, and answers with the keys that it took. */
function refusePuts(refuses: (key: string, taken: number) => boolean): ReadonlySet<string> {
  vi.restoreAllMocks();
  const put = env.CATALOG.put.bind(env.CATALOG);
  const taken = new Set<string>();
  vi.spyOn(env.CATALOG, "put").mockImplementation(async (key, value, options) => {
    if (refuses(key, taken.size)) throw new Error("KV PUT failed: 429 Too Many Requests");
    taken.add(key);
    await put(key, value, options);
  });
  return taken;
}

function outboxLength(): Promise<number> {
  return runInDurableObject(
    coordinator(),
    (_, { storage }) => storage.sql.exec("SELECT seq FROM outbox").toArray().length,
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a run for which KV refuses a blob for good, and the one after it", () => {
  let failed: Run;
  let served: Awaited<ReturnType<typeof store.readManifest>>;
  let published: Run;
  /** Blobs that KV took from the run that failed. */
  let taken: ReadonlySet<string>;
  /** Keys that KV refused to the second run, once each. */
  const refused = new Set<string>();

  beforeAll(async () => {
    taken = refusePuts((_, count) => count >= 2 * commonUnits().length);
    const first = await enqueue();
    await runWhen(first, ({ state }) => state === "running");
    const second = await enqueue();
    failed = await runEnded(first);
    served = await store.readManifest("kv");
    refusePuts((key, count) => {
      const refuse = !refused.has(key) && (key === MANIFEST_KEY || count === 4);
      if (refuse) refused.add(key);
      return refuse;
    });
    await runWhen(second, ({ progress }) => progress.done >= 2);
    await evictDurableObject(coordinator());
    await runWhen(second, ({ progress }) => progress.done >= 6);
    await abortAllDurableObjects();
    await runDurableObjectAlarm(coordinator());
    published = await runEnded(second);
  }, RUN_TIMEOUT_MS);

  it("fails in the middle of a locale, after some attempts", () => {
    expect(failed).toMatchObject({
      state: "failed",
      outcome: null,
      generationAfter: null,
      retries: 4,
      error: { code: "store_fault", stage: "encode" },
    });
    expect(failed.progress.done).toBeGreaterThan(commonUnits().length);
    expect(failed.progress.done).toBeLessThan(failed.progress.total);
  });

  it("leaves what is served as it is", () => {
    expect(served).toMatchObject({ ok: false, fault: "missing" });
  });

  it("lets the next have its turn, which is published in spite of passing faults", () => {
    expect(published).toMatchObject({ state: "succeeded", outcome: "published", error: null });
    expect(refused.size).toBe(2);
    expect(published.retries).toBeGreaterThanOrEqual(2);
    expect((published.startedAt ?? "") >= (failed.finishedAt ?? "?")).toBe(true);
  });

  it("goes on from its checkpoint after an eviction and a reset, and makes the same bytes", async () => {
    const manifest = await servedManifest();
    expect(manifest).toMatchObject({ generation: 1, previous: null });
    expect(Object.keys(manifest.locales)).toEqual(["de", "en", "ja"]);
    const named = new Set([...manifestBlobs(manifest)].map(blobKey));
    expect(taken.size).toBe(2 * commonUnits().length);
    expect([...taken].filter((key) => !named.has(key))).toEqual([]);
  });
});

describe("a step that is overtaken by another attempt at it", () => {
  it(
    "changes nothing any more: a run that is over stays as it ended",
    async () => {
      const gate = { reached: false, open: false };
      const get = env.ARCHIVE.get.bind(env.ARCHIVE);
      vi.spyOn(env.ARCHIVE, "get").mockImplementationOnce(async (key: string) => {
        gate.reached = true;
        // A timer of the coordinator's own: it would not wake up for a promise of the test's.
        while (!gate.open) await new Promise((resolve) => setTimeout(resolve, 10));
        return get(key);
      });
      const id = await enqueue();
      await expect.poll(() => gate.reached).toBe(true);
      const ended = await vi.waitFor(
        async () => {
          await runDurableObjectAlarm(coordinator());
          const run = await coordinator().findRun(id);
          if (run?.state !== "succeeded") throw new Error(`not yet: ${run?.state}`);
          return run;
        },
        { timeout: RUN_TIMEOUT_MS },
      );
      gate.open = true;
      await evictDurableObject(coordinator());
      expect(await coordinator().findRun(id)).toEqual(ended);
    },
    RUN_TIMEOUT_MS,
  );
});

describe("a run while D1 is down", () => {
  it(
    "ends all the same; its rows wait, and arrive when D1 is back",
    async () => {
      const before = await historyRows();
      const batch = vi.spyOn(env.HISTORY, "batch").mockRejectedValue(new Error("D1_ERROR: down"));
      const id = await enqueue();
      expect(await runEnded(id)).toMatchObject({ state: "succeeded", outcome: "unchanged" });
      await expect.poll(outboxLength).toBeGreaterThan(0);
      expect(batch).toHaveBeenCalled();
      expect(await historyRows()).toEqual(before);
      vi.restoreAllMocks();
      await drain();
      const rows = await historyRows();
      expect(rows.slice(0, -1)).toEqual(before);
      expect(rows.at(-1)).toMatchObject({ id, state: "succeeded", outcome: "unchanged" });
    },
    RUN_TIMEOUT_MS,
  );

  it(
    "has one row, though D1 took the rows and its answer was lost",
    async () => {
      const before = await historyRows();
      const batch = env.HISTORY.batch.bind(env.HISTORY);
      vi.spyOn(env.HISTORY, "batch").mockImplementation(async (statements) => {
        await batch(statements);
        throw new Error("D1_ERROR: connection lost");
      });
      const id = await enqueue();
      await runEnded(id);
      await expect.poll(historyRows).toHaveLength(before.length + 1);
      vi.restoreAllMocks();
      await drain();
      const rows = await historyRows();
      expect(rows.map((row) => row["id"])).toEqual([...before.map((row) => row["id"]), id]);
      expect(rows.at(-1)).toMatchObject({ state: "succeeded", outcome: "unchanged" });
    },
    RUN_TIMEOUT_MS,
  );
});

/** Runs the alarm that is set for later, until no row waits. */
async function drain(): Promise<void> {
  const drained = async () => {
    await runDurableObjectAlarm(coordinator());
    return outboxLength();
  };
  await expect.poll(drained, { timeout: 10_000 }).toBe(0);
}
