import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { toListed } from "../../../src/coordinator/run.ts";
import { admin } from "../checked-fetch.ts";
import {
  alarmTime,
  coordinator,
  historyRows,
  idle,
  RUN_TIMEOUT_MS,
  runEnded,
  runWhen,
  settled,
  store,
} from "./coordinator-under-test.ts";

interface Answer {
  readonly run: { readonly id: string };
}

/** The answer to a verb, which must be taken. */
async function send(path: string, body?: object): Promise<Answer> {
  const answer = await admin("POST", `/admin/ingest/${path}`, body);
  expect(answer.status).toBeLessThan(300);
  return answer.json();
}

/** Cancels what is open, so that the next test begins with nothing to do. */
afterEach(async () => {
  await send("pause", { cancel_running: true });
  for (const { id } of (await coordinator().status()).queued) await send(`runs/${id}/cancel`);
  await idle();
  await send("resume");
  await settled();
});

describe("the admin routes over a real coordinator", { timeout: RUN_TIMEOUT_MS }, () => {
  it("hold a queued run by a pause, even over an eviction, and start it by a resume", async () => {
    expect(await send("pause", { note: "odd" })).toMatchObject({ paused: true, changed: true });
    const answer = await send("queue");
    const { id } = answer.run;
    expect(answer).toMatchObject({ changed: true, will_start: "on_resume" });
    await evictDurableObject(coordinator());
    await settled();
    const list = await admin("GET", "/admin/ingest/runs");
    expect(await list.json()).toMatchObject({ paused: true, runs: [{ id, state: "queued" }] });
    expect(await send("resume")).toMatchObject({ paused: false, changed: true });
    await runWhen(id, ({ started_at }) => started_at !== null);
  });

  it("end a pause with a given end by an alarm", async () => {
    const far = Date.now() + 3_600_000;
    await send("pause", { until: new Date(far).toISOString() });
    const { run } = await send("queue");
    await expect.poll(alarmTime).toBe(far);
    const until = Date.now() + 1_000;
    await send("pause", { until: new Date(until).toISOString() });
    const started = await runWhen(run.id, ({ started_at }) => started_at !== null);
    expect(Date.parse(started.started_at ?? "")).toBeGreaterThanOrEqual(until);
  });

  it("stop a run at a step boundary by a pause, and continue it by a resume", async () => {
    const { run } = await send("queue");
    await runWhen(run.id, ({ state }) => state === "running");
    expect(await send("pause")).toMatchObject({ message: expect.stringContaining(run.id) });
    await evictDurableObject(coordinator());
    await settled();
    const held = await coordinator().findRun(run.id);
    expect(held).toMatchObject({ state: "running", outcome: null });
    expect(await runDurableObjectAlarm(coordinator())).toBe(false);
    expect(await coordinator().findRun(run.id)).toEqual(held);
    await send("resume");
    await runWhen(run.id, ({ catalog_sha256 }) => catalog_sha256 !== null);
  });

  it("cancel a waiting run at once, and a running one at the end of its step", async () => {
    const { run } = await send("queue");
    await runWhen(run.id, ({ state }) => state === "running");
    const { run: next } = await send("queue", { mode: "full" });
    expect(await send(`runs/${next.id}/cancel`)).toMatchObject({ changed: true });
    await send(`runs/${run.id}/cancel`);
    const ended = await runEnded(run.id);
    expect(ended).toMatchObject({ state: "cancelled", outcome: null, error: null });
    await settled();
    const rows = (await historyRows()).slice(-2).map(toListed);
    expect(rows).toMatchObject([
      { id: run.id, state: "cancelled", finished_at: ended.finished_at },
      { id: next.id, state: "cancelled", started_at: null },
    ]);
    const shown = await admin("GET", `/admin/ingest/runs/${run.id}`);
    expect(await shown.json()).toEqual(ended);
    expect(await store.readManifest("kv")).toMatchObject({ ok: false, fault: "missing" });
  });
});
