/** The coordinator as tests see it: from outside, and what it has stored. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { INGEST_INSTANCE } from "../../../src/platform/instances.ts";
import type { QueueAnswer } from "../../../src/coordinator/run-queue.ts";
import type { EnqueueRequest } from "../../../src/coordinator/run-record.ts";
import type { Run } from "../../../src/schemas/run.ts";
import { createCatalogStore } from "../../../src/storage/catalog-store.ts";
import { anEnqueueRequest } from "../../builders/run.ts";

/** How long a run may take, also on a busy machine: it ends what hangs, and nothing else. */
export const RUN_TIMEOUT_MS = 600_000;

export const store = createCatalogStore(env.CATALOG, env.ARCHIVE);

/** A stub for each call: one that saw its object reset stays broken. */
export function coordinator() {
  return env.COORDINATOR.getByName(INGEST_INSTANCE);
}

/** Puts a run in the queue, which must take it. */
export async function enqueue(changes: Partial<EnqueueRequest> = {}): Promise<QueueAnswer> {
  const result = await coordinator().enqueue(anEnqueueRequest(changes));
  if (!result.ok) throw new Error(`not queued: ${result.reason}`);
  return result.answer;
}

/** Waits until a run is as `done` says. */
export function runWhen(id: string, done: (run: Run) => boolean): Promise<Run> {
  const look = async () => {
    const run = await coordinator().findRun(id);
    if (run === null || !done(run)) throw new Error(`not yet: ${JSON.stringify(run)}`);
    return run;
  };
  return vi.waitFor(look, { timeout: RUN_TIMEOUT_MS, interval: 25 });
}

export function runEnded(id: string): Promise<Run> {
  return runWhen(id, ({ finished_at }) => finished_at !== null);
}

/** Queues a run and waits for its end. */
export async function runToEnd(changes: Partial<EnqueueRequest> = {}): Promise<Run> {
  const { run } = await enqueue(changes);
  return runEnded(run.id);
}

/** The manifest that is served. */
export async function servedManifest() {
  const copy = await store.readManifest("kv");
  if (!copy.ok) throw new Error(copy.detail);
  return copy.value;
}

/** Runs as D1 has them, oldest first. */
export async function historyRows(): Promise<readonly Run[]> {
  const query = env.HISTORY.prepare("SELECT run FROM ingest_runs ORDER BY id");
  const { results } = await query.all<{ run: string }>();
  return results.map(({ run }) => JSON.parse(run));
}

/** When the alarm is set for (ms since 1970); null if nothing is due. */
export function alarmTime(): Promise<number | null> {
  return runInDurableObject(coordinator(), (_, { storage }) => storage.getAlarm());
}

/** Waits until nothing is due any more, but for the second look at a store that has failed. */
export async function settled(): Promise<void> {
  const look = async () => {
    const { outboxLength } = await coordinator().status();
    const dueAt = (await alarmTime()) ?? Infinity;
    return { outboxLength, isDueSoon: dueAt < Date.now() + 60_000 };
  };
  await expect.poll(look).toEqual({ outboxLength: 0, isDueSoon: false });
}
