import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { PauseRequest } from "../../../src/jobs/pause.ts";
import { anEnqueueRequest } from "../../builders/run.ts";
import {
  alarmTime,
  coordinator,
  enqueue,
  historyRows,
  idle,
  RUN_TIMEOUT_MS,
  runEnded,
  runWhen,
  settled,
  store,
} from "./coordinator-under-test.ts";

const UNKNOWN_ID = "01a1fc3f-b811-706c-8d6d-9e5359a10797";

function pause(changes: Partial<PauseRequest> = {}, cancelRunning = false) {
  const request = { by: "ops", reason: "upstream is odd", until: null, ...changes };
  return coordinator().pause(request, cancelRunning);
}

/** Cancels what is open, so that the next test begins with nothing to do. */
afterEach(async () => {
  vi.restoreAllMocks();
  await pause({}, true);
  for (const { id } of (await coordinator().status()).queued) await coordinator().cancel(id, "ops");
  await idle();
  await coordinator().resume();
  await settled();
});

describe("a pause", { timeout: RUN_TIMEOUT_MS }, () => {
  it("keeps what is queued from starting, outlives an eviction, and ends with resume", async () => {
    expect(await pause()).toMatchObject({
      pause: { by: "ops", reason: "upstream is odd", until: null },
      changed: true,
      runningRunId: null,
      queued: 0,
    });
    expect((await pause()).changed).toBe(false);
    const { run, ...answer } = await enqueue();
    expect(answer).toMatchObject({ disposition: "queued_while_paused", willStart: "on_resume" });
    await evictDurableObject(coordinator());
    await settled();
    expect(await coordinator().status()).toMatchObject({
      pause: { by: "ops" },
      running: null,
      queued: [{ id: run.id, state: "queued" }],
    });
    await coordinator().resume();
    await runWhen(run.id, ({ started_at }) => started_at !== null);
  });

  it("refuses at once those who asked not to wait", async () => {
    await pause();
    const result = await coordinator().enqueue(anEnqueueRequest({ ifPaused: "reject" }));
    expect(result).toMatchObject({ ok: false, reason: "paused", pause: { by: "ops" } });
    expect((await coordinator().status()).queued).toEqual([]);
  });

  it("ends by itself at `until`, by an alarm", async () => {
    const far = Date.now() + 3_600_000;
    await pause({ until: new Date(far).toISOString() });
    const { run } = await enqueue();
    await expect.poll(alarmTime).toBe(far);
    const until = Date.now() + 400;
    await pause({ until: new Date(until).toISOString() });
    const started = await runWhen(run.id, ({ started_at }) => started_at !== null);
    expect(Date.parse(started.started_at ?? "")).toBeGreaterThanOrEqual(until);
    expect((await coordinator().status()).pause).toBeNull();
  });

  it("stops a run at a step boundary, and the run goes on after resume", async () => {
    const { run } = await enqueue();
    await runWhen(run.id, ({ state }) => state === "running");
    expect((await pause()).runningRunId).toBe(run.id);
    await evictDurableObject(coordinator());
    await settled();
    const held = await coordinator().findRun(run.id);
    expect(held).toMatchObject({ state: "running", outcome: null });
    expect(await runDurableObjectAlarm(coordinator())).toBe(false);
    expect(await coordinator().findRun(run.id)).toEqual(held);
    await coordinator().resume();
    await runWhen(run.id, ({ catalog_sha256 }) => catalog_sha256 !== null);
    expect(await store.readManifest("kv")).toMatchObject({ ok: false, fault: "missing" });
  });
});

describe("cancel", { timeout: RUN_TIMEOUT_MS }, () => {
  it("ends a run that waits at once, and says so again when it is repeated", async () => {
    await pause();
    const { run } = await enqueue();
    expect(await coordinator().cancel(run.id, "ops")).toMatchObject({
      ok: true,
      disposition: "cancelled",
      run: { id: run.id, state: "cancelled", started_at: null },
    });
    expect(await coordinator().cancel(run.id, "ops")).toMatchObject({
      ok: true,
      disposition: "cancelled",
      before: "cancelled",
    });
    expect(await coordinator().cancel(UNKNOWN_ID, "ops")).toEqual({
      ok: false,
      reason: "not_found",
    });
  });

  it("ends a running one at its step's end, and publishes nothing", async () => {
    const { run } = await enqueue();
    await runWhen(run.id, ({ state }) => state === "running");
    expect(await coordinator().cancel(run.id, "ops")).toMatchObject({ ok: true });
    const ended = await runEnded(run.id);
    expect(ended).toMatchObject({ state: "cancelled", outcome: null, error: null });
    expect((await coordinator().status()).current).toBeNull();
    await settled();
    const row = (await historyRows()).find(({ id }) => id === run.id);
    expect(row).toMatchObject({ state: "cancelled", finished_at: ended.finished_at });
  });
});

describe("the queue", () => {
  it("takes ten runs that differ, and refuses the eleventh until one is gone", async () => {
    await pause();
    const sources = ["embedded", "ourairports", "dropped", "other"];
    const wanted = sources.flatMap((source) =>
      (["incremental", "full", "dry_run"] as const).map((mode) => ({ source, mode })),
    );
    const ids: string[] = [];
    for (const changes of wanted.slice(0, 10)) ids.push((await enqueue(changes)).run.id);
    const eleventh = anEnqueueRequest(wanted[10]);
    expect(await coordinator().enqueue(eleventh)).toEqual({
      ok: false,
      reason: "queue_full",
      queueDepth: 10,
    });
    await coordinator().cancel(ids[0] ?? "", "ops");
    expect(await coordinator().enqueue(eleventh)).toMatchObject({
      ok: true,
      answer: { queuePosition: 10, queueDepth: 10 },
    });
    expect(new Set(ids).size).toBe(10);
  });
});

describe("D1", () => {
  it("is told of each run and each end, in order, once it can be reached", async () => {
    await pause();
    const batch = vi.spyOn(env.HISTORY, "batch");
    batch.mockRejectedValueOnce(new Error("D1_ERROR: down"));
    const { run } = await enqueue();
    await expect.poll(() => batch.mock.calls.length).toBe(1);
    expect((await coordinator().status()).outboxLength).toBe(1);
    await evictDurableObject(coordinator());
    await coordinator().cancel(run.id, "ops");
    await settled();
    const row = (await historyRows()).find(({ id }) => id === run.id);
    expect(row).toMatchObject({ state: "cancelled", started_at: null });
  });
});
